-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- The rows of the pass that records the least are marked, on each rank.
INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, device_ns)
VALUES
(14, 0, 'memory', 5, 'step', 0, 0, 1, 50, 4000000, NULL),
(14, 1, 'memory', 5, 'step', 1, 0, 1, 50, 5000000, 4500000);
SELECT * FROM pass_step_time WHERE run_id IN (12, 14) ORDER BY run_id, rank, pass, step, phase;
