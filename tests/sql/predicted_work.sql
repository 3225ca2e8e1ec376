-- SPDX-License-Identifier: Apache-2.0
-- Run 1 computes again, in two passes that report it; run 2 does not.
INSERT INTO param (run_id, name, position, type, value) VALUES
(1, 'dtype', 0, 'text', 'fp32'), (1, 'autocast', 1, 'bool', 1), (2, 'dtype', 0, 'text', 'fp16');
INSERT INTO work (run_id, rank, phase, flops, bytes) VALUES
(1, 0, 'forward', 100, 0), (1, 1, 'forward', 100, 0), (1, 0, 'optimizer', 10, 400), (2, 0, 'forward', 50, 0);
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(1, 0, 'time', 0, 'run', -1, '', 'recompute_flops', 70, 'FLOP'),
(1, 0, 'predict', 0, 'run', -1, '', 'recompute_flops', 70, 'FLOP');
SELECT * FROM predicted_work ORDER BY run_id, phase;
