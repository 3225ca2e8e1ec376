-- SPDX-License-Identifier: Apache-2.0
-- caption: Every step without warm-up:
-- empty: The case `timing-warmup` of the suite `cs336` has no completed run without warm-up.
SELECT
  m.size || ', context ' || m.context || ', ' || m.precision
  || CASE WHEN r.repetition > 0 THEN ', repetition ' || (r.repetition + 1) ELSE '' END AS setting,
  t.step,
  CASE t.phase WHEN 'step' THEN 'whole step' ELSE t.phase END AS phase,
  t.time_ms
FROM selected_run s
JOIN run r
  ON r.run_id = s.run_id
  AND r.suite_case IN ('warmup', 'timing-warmup')
  AND r.warmup = 0
  AND r.status = 'ok'
JOIN transformer_run m ON m.run_id = r.run_id
JOIN step_time t ON t.run_id = r.run_id AND t.phase <> 'other'
ORDER BY
  m.size_order,
  m.context,
  r.run_id,
  t.phase <> 'step',
  min(t.start_ns) OVER (PARTITION BY t.run_id, t.phase),
  t.step
