-- SPDX-License-Identifier: Apache-2.0
-- The first and the last of the runs with the arguments of operators.
WITH observed AS (
  SELECT
    t.run_id,
    t.case_title AS variant
  FROM selected_run s
  JOIN training_run t ON t.run_id = s.run_id
  WHERE EXISTS (SELECT 1 FROM op_roofline w WHERE w.run_id = t.run_id)
)
SELECT *
FROM observed
WHERE
  run_id IN (
    SELECT min(run_id) FROM observed
    UNION
    SELECT max(run_id) FROM observed
  )
