-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time by context length and model size:
-- empty: The case `timing` of the suite `cs336` has no measurements.
SELECT
  m.precision AS setting,
  m.size,
  m.context,
  avg(t.mean_ms) AS mean_ms,
  CASE WHEN count(*) = 1 THEN max(t.std_ms) END AS std_ms
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'timing'
LEFT JOIN phase_time t ON t.run_id = m.run_id AND t.phase = 'step' AND t.status = 'ok'
GROUP BY m.precision, m.size_order, m.size, m.context
ORDER BY m.precision, m.size_order, m.size, m.context
