-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM memory_steps ORDER BY run_id, rank;
-- The interval spans all measured steps but no warm-up step or other pass. Run 14 has no memory points within steps.
INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, device_ns) VALUES
(13, 0, 'memory', 0, 'step', 1, 0, 1, 100, 1000, NULL), (13, 0, 'memory', 2, 'step', 0, 0, 1, 5000, 700, NULL),
(13, 0, 'trace', 3, 'step', 0, 0, 1, 6000, 700, NULL);
UPDATE memory_point SET step = -1 WHERE run_id = 14;
SELECT * FROM memory_steps ORDER BY run_id, rank;
