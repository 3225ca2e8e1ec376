-- SPDX-License-Identifier: Apache-2.0
INSERT INTO step_duration (run_id, phase, step, warmup, throttled, ranks, host_ns, device_ns) VALUES
(1, 'step', 0, 1, 0, 1, 3000000, NULL), (1, 'forward', 0, 1, 0, 1, 2000000, 1500000),
(1, 'step', 1, 0, 1, 1, 1000000, 900000);
SELECT * FROM step_time ORDER BY step, phase;
