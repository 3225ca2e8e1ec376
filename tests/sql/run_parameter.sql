-- SPDX-License-Identifier: Apache-2.0
INSERT INTO param (run_id, name, type, value) VALUES
(1, 'n', 'int', 8), (1, 'causal', 'bool', 1), (1, 'flat', 'bool', 0), (1, 'scale', 'real', 0.5),
(1, 'size', 'text', '2.7B');
SELECT
  run_id,
  name,
  type,
  value,
  typeof(value) AS kind,
  text
FROM run_parameter
ORDER BY name;
