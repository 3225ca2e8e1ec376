-- SPDX-License-Identifier: Apache-2.0
-- caption: Phase times by model size, mean and standard deviation, at the context most sizes have in common:
-- empty: The case `timing` of the suite `cs336` has no measurements.
WITH timed AS (
  SELECT m.*
  FROM selected_run s
  JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'timing'
),
shared AS (
  SELECT context
  FROM timed
  GROUP BY context
  ORDER BY count(DISTINCT CASE WHEN status = 'ok' THEN size END) DESC, context
  LIMIT 1
)
SELECT
  'context ' || c.context || ', ' || c.precision AS setting,
  c.run_id,
  c.size || CASE WHEN c.repetition > 0 THEN ' #' || (c.repetition + 1) ELSE '' END AS size,
  p.value AS phase,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE t.mean_ms END AS mean_ms,
  CASE WHEN d.status_label = '' THEN t.std_ms END AS std_ms
FROM timed c
JOIN shared h ON h.context = c.context
JOIN json_each('["forward", "backward", "optimizer"]') p
JOIN run_status d ON d.run_id = c.run_id
LEFT JOIN phase_time t ON t.run_id = c.run_id AND t.phase = p.value
WHERE t.mean_ms IS NOT NULL OR d.status_label <> ''
ORDER BY c.precision, c.size_order, c.size, c.repetition, p.key
