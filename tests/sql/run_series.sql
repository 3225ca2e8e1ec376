-- SPDX-License-Identifier: Apache-2.0
-- Runs 1 to 4 of one family: the baseline, a variant, a workload whose parameters form the title, and a run without a
-- family. The value that run 3 selected for `auto` is known from its metric; that of run 2 is not.
UPDATE run
SET
  workload = 'w' || run_id,
  title = CASE run_id WHEN 3 THEN '' ELSE 'workload ' || run_id END,
  family = CASE run_id WHEN 4 THEN '' ELSE 'f' END,
  family_order = CASE run_id WHEN 3 THEN 1 ELSE 0 END;
INSERT INTO param (run_id, name, position, type, title, setting, value) VALUES
(1, 'size', 0, 'text', '{}', 1, 'small'), (1, 'exact', 1, 'bool', '', 0, 0),
(2, 'size', 0, 'text', '{}', 1, 'small'), (2, 'mixed', 1, 'bool', ' mixed', 1, 1),
(2, 'backend', 2, 'text', '{}', 1, 'auto'), (2, 'optimizer', 3, 'text', '', 1, 'sgd'),
(2, 'bucket', 4, 'real', '{} MiB', 0, 25.0), (2, 'rate', 5, 'real', '{}', 0, 0.1),
(2, 'late', 6, 'bool', ' after backward', 0, 1), (2, 'a', 7, 'bool', 'a={}', 0, 0),
(3, 'implementation', 0, 'text', ' {}', 0, 'auto'), (3, 'heads', 1, 'int', '', 0, 8);
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(3, 0, 'memory', 0, 'run', -1, '', 'implementation', 'slow', ''),
(3, 0, 'time', 0, 'run', -1, '', 'implementation', 'fast', ''), (3, 0, 'time', 1, 'run', -1, '', 'heads', 9, '');
SELECT * FROM run_series ORDER BY run_id;
UPDATE param SET title = '';
SELECT
  run_id,
  title,
  variant,
  setting
FROM run_series
ORDER BY run_id;
