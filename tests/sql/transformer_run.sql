-- SPDX-License-Identifier: Apache-2.0
UPDATE run SET family = 'transformer' WHERE run_id IN (1, 2);
INSERT INTO param (run_id, name, type, value) VALUES
(1, 'size', 'text', '2.7B'), (1, 'context', 'int', 128), (1, 'batch', 'int', 4), (1, 'dtype', 'text', 'fp32'),
(1, 'autocast', 'bool', 0), (1, 'mode', 'text', 'train'), (2, 'size', 'text', 'tiny'), (2, 'context', 'int', 64),
(2, 'batch', 'int', 1), (2, 'dtype', 'text', 'bf16'), (2, 'autocast', 'bool', 1), (2, 'mode', 'text', 'forward'),
(3, 'size', 'text', 'small');
UPDATE param SET choice = CASE value WHEN 'tiny' THEN 0 ELSE 5 END WHERE name = 'size';
SELECT * FROM transformer_run ORDER BY run_id;
