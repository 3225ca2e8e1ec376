-- SPDX-License-Identifier: Apache-2.0
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(1, 0, 'time', 0, 'run', -1, '', 'loss', 2.5, ''), (1, 0, 'time', 1, 'phase', 3, 'forward', 'dtype', 'fp16', ''),
(1, 0, 'time', 2, 'step', 4, '', 'rate', 7, 'tokens/s');
SELECT * FROM reported_metric ORDER BY sequence;
