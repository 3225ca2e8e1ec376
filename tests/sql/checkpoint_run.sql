-- SPDX-License-Identifier: Apache-2.0
-- with: predictions
-- Runs 1 to 3 differ in their checkpoints only; the loss of run 2 is another one. Run 4 has another size, and no run
-- without checkpoints to be compared with. Run 3 also sets what selective alone uses.
INSERT INTO param (run_id, name, position, type, value) VALUES
(1, 'size', 0, 'text', 'small'), (1, 'checkpoint', 1, 'text', 'none'), (1, 'checkpoint_blocks', 2, 'int', 1),
(2, 'size', 0, 'text', 'small'), (2, 'checkpoint', 1, 'text', 'blocks'), (2, 'checkpoint_blocks', 2, 'int', 1),
(3, 'size', 0, 'text', 'small'), (3, 'checkpoint', 1, 'text', 'nested'), (3, 'checkpoint_blocks', 2, 'int', 2),
(3, 'checkpoint_feed_forward', 3, 'int', 3),
(4, 'size', 0, 'text', 'large'), (4, 'checkpoint', 1, 'text', 'selective'), (4, 'checkpoint_blocks', 2, 'int', 4),
(4, 'checkpoint_feed_forward', 3, 'int', 5);
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(1, 0, 'time', 0, 'run', -1, '', 'loss_last', 9.25, 'nat'),
(2, 0, 'time', 0, 'run', -1, '', 'loss_last', 9.250000000000002, 'nat'),
(3, 0, 'time', 0, 'run', -1, '', 'loss_last', 9.25, 'nat'),
(4, 0, 'time', 0, 'run', -1, '', 'loss_last', 9.25, 'nat');
SELECT * FROM checkpoint_run ORDER BY run_id;
