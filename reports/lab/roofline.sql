-- SPDX-License-Identifier: Apache-2.0
-- caption: Operators below the measured peaks of the device, before and after the optimisations:
-- empty: No operators with arguments.
WITH observed AS (
  SELECT
    t.run_id,
    t.case_title AS variant,
    CASE t.device_kind WHEN 'cuda' THEN 'device' ELSE 'host' END AS clock
  FROM selected_run s
  JOIN training_run t ON t.run_id = s.run_id
  WHERE EXISTS (SELECT 1 FROM op_roofline w WHERE w.run_id = t.run_id)
)
SELECT
  o.variant,
  replace(w.name, 'aten::', '') || coalesce(', ' || w.module, '') AS label,
  CASE w.clock WHEN o.clock THEN w.kind ELSE 'on the host' END AS class,
  w.dtype AS detail,
  sum(CASE WHEN w.clock = o.clock THEN w.flops END) AS flops,
  sum(w.bytes) AS bytes,
  sum(w.time_ms) AS ms
FROM observed o
JOIN op_roofline w ON w.run_id = o.run_id AND w.rank = 0 AND w.pass = 'ops'
WHERE
  o.run_id IN (
    SELECT min(run_id) FROM observed
    UNION
    SELECT max(run_id) FROM observed
  )
GROUP BY o.run_id, w.name, w.module, w.kind, w.dtype, w.clock
ORDER BY o.run_id, ms DESC, label
