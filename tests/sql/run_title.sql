-- SPDX-License-Identifier: Apache-2.0
-- Runs 1 and 2 differ only in n; runs 3 and 4 are other workloads, each with one case.
UPDATE run SET workload = 'w' || run_id WHERE run_id > 2;
INSERT INTO param (run_id, name, type, value) VALUES
(1, 'n', 'int', 1), (2, 'n', 'int', 2), (1, 'dtype', 'text', 'fp32'), (2, 'dtype', 'text', 'fp32'), (3, 'n', 'int', 9);
SELECT * FROM run_title ORDER BY run_id;
-- A parameter is shown as its title, or by its name where titles omit it.
UPDATE param SET title = ' {} rows' WHERE run_id = 1 AND name = 'n';
SELECT * FROM run_title ORDER BY run_id;
-- Runs of one case with different timing; another case has its own timing.
INSERT INTO param (run_id, name, type, value) VALUES (3, 'steps', 'text', 'few');
UPDATE run
SET
  workload = 'w',
  suite_case = CASE run_id WHEN 4 THEN 'other' ELSE 'timed' END,
  timing = CASE run_id WHEN 2 THEN 'hot' ELSE 'sync' END,
  steps = CASE run_id WHEN 3 THEN 7 ELSE 5 END,
  seed = CASE run_id WHEN 4 THEN 1 ELSE 0 END;
SELECT * FROM run_title ORDER BY run_id;
