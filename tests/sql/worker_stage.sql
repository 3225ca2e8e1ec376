-- SPDX-License-Identifier: Apache-2.0
-- Run 1 reached its first step. Markers of the workload are not stages, even if a later one has the name of a stage.
-- Run 2 failed during preparation.
INSERT INTO mark (run_id, rank, pass, sequence, name, time_ns, step) VALUES
(1, 0, 'time', 0, 'worker: assigned', 2000000, -1), (1, 0, 'time', 1, 'worker: plugin loaded', 702000000, -1),
(1, 0, 'time', 2, 'worker: collectors armed', 1002000000, -1), (1, 0, 'time', 3, 'worker: created', 1002500000, -1),
(1, 0, 'time', 4, 'model_ready', 1010000000, -1), (1, 0, 'time', 5, 'worker: prepared', 1022500000, -1),
(1, 0, 'time', 6, 'worker: created', 1900000000, 1), (1, 0, 'verify', 0, 'worker: assigned', 3000000, -1),
(2, 0, 'time', 0, 'worker: assigned', 0, -1), (2, 0, 'time', 1, 'worker: plugin loaded', 1000, -1);
INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns) VALUES
(1, 0, 'time', 0, 'step', 1, 0, 1, 1023000000, 5), (1, 0, 'time', 0, 'forward', 1, 0, 1, 1023000001, 1),
(1, 0, 'time', 1, 'step', 0, 0, 1, 1800000000, 5), (3, 0, 'time', 0, 'step', 1, 0, 1, 7, 5);
SELECT * FROM worker_stage ORDER BY run_id, rank, pass, stage_order;
