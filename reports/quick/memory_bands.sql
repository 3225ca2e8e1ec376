-- SPDX-License-Identifier: Apache-2.0
-- Phase bands for memory_area.sql. Recomputation is part of the band of the phase that it interrupts.
WITH band AS (
  SELECT
    n.setting,
    g.step,
    g.label,
    g.start_ns,
    g.end_ns,
    max(g.label = 'recompute') OVER (PARTITION BY n.setting, g.step) AS is_interrupted
  FROM chosen n
  CROSS JOIN timeline_bar g
    ON g.run_id = n.run_id
    AND g.rank = 0
    AND g.pass = 'memory'
    AND g.side = 'host'
    AND g.class = 'phase'
    AND g.start_ns BETWEEN n.start_ns AND n.end_ns
)
SELECT
  setting,
  label,
  min(start_ns) AS start,
  max(end_ns) AS "end"
FROM band
WHERE label <> 'recompute'
GROUP BY setting, step, label, CASE is_interrupted WHEN 0 THEN start_ns END
ORDER BY setting, min(start_ns)
