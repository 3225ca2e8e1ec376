-- SPDX-License-Identifier: Apache-2.0
-- caption: Every step without warm-up:
-- empty: The case `timing-warmup` of the suite `cs336` has no completed run without warm-up.
SELECT
  c.size || ', context ' || c.context || ', ' || c.precision
  || CASE WHEN c.repetition > 0 THEN ', repetition ' || (c.repetition + 1) ELSE '' END AS setting,
  t.step,
  CASE t.phase WHEN 'step' THEN 'whole step' ELSE t.phase END AS phase,
  t.time_ms
FROM cold c
JOIN step_time t ON t.run_id = c.run_id AND t.phase <> 'other'
ORDER BY
  c.size_order,
  c.context,
  c.run_id,
  t.phase <> 'step',
  min(t.start_ns) OVER (PARTITION BY t.run_id, t.phase),
  t.step
