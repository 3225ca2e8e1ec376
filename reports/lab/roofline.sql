-- SPDX-License-Identifier: Apache-2.0
-- caption: Operators below the measured peaks of the device, before and after the optimisations:
-- empty: No operators with arguments.
WITH observed AS (
  SELECT
    t.run_id,
    t.case_title AS variant
  FROM selected_run s
  JOIN training_run t ON t.run_id = s.run_id
  WHERE EXISTS (SELECT 1 FROM op_roofline w WHERE w.run_id = t.run_id)
)
SELECT
  o.variant,
  m.label,
  m.class,
  m.detail,
  m.flops,
  m.bytes,
  m.ms
FROM observed o
JOIN roofline_mark m ON m.run_id = o.run_id AND m.rank = 0 AND m.pass = 'ops'
WHERE
  o.run_id IN (
    SELECT min(run_id) FROM observed
    UNION
    SELECT max(run_id) FROM observed
  )
ORDER BY o.run_id, m.class, m.label
