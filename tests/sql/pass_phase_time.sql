-- SPDX-License-Identifier: Apache-2.0
INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns) VALUES
(1, 0, 'ops', 0, 'step', 1, 0, 1, 0, 9000000), (1, 0, 'ops', 0, 'forward', 1, 0, 1, 0, 8000000),
(1, 0, 'ops', 1, 'step', 0, 0, 1, 0, 3000000), (1, 0, 'ops', 1, 'forward', 0, 0, 3, 0, 2000000),
(1, 0, 'ops', 2, 'step', 0, 0, 1, 0, 5000000), (1, 0, 'ops', 2, 'other', 0, 0, 1, 0, 1000000),
(1, 1, 'ops', 1, 'step', 0, 0, 1, 0, 7000000), (1, 0, 'time', 1, 'step', 0, 0, 1, 0, 2000000);
SELECT * FROM pass_phase_time ORDER BY run_id, pass, rank, phase;
