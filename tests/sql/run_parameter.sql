-- SPDX-License-Identifier: Apache-2.0
INSERT INTO param (run_id, name, type, value) VALUES
(1, 'n', 'int', 8), (1, 'causal', 'bool', 1), (1, 'flat', 'bool', 0), (1, 'scale', 'real', 0.5),
(1, 'size', 'text', '2.7B'),
(1, 'backend', 'text', 'auto'),
(2, 'backend', 'text', 'gloo'),
(3, 'backend', 'text', 'l'),
(4, 'backend', 'text', 'auto');
UPDATE param SET title = CASE name WHEN 'size' THEN '' WHEN 'backend' THEN '<{nccl=NCCL|gloo=a = b}>' ELSE '<{}>' END;
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(1, 0, 'time', 0, 'run', -1, '', 'backend', 'nccl', ''), (1, 0, 'time', 1, 'run', -1, '', 'n', 9, '');
SELECT
  run_id,
  name,
  type,
  value,
  typeof(value) AS kind,
  text,
  effective,
  title
FROM run_parameter
ORDER BY name, run_id;
