-- SPDX-License-Identifier: Apache-2.0
-- Phase bands for memory_area.sql.
SELECT
  n.setting,
  g.label,
  g.start_ns AS start,
  g.end_ns AS "end"
FROM chosen n
CROSS JOIN timeline_bar g
  ON g.run_id = n.run_id
  AND g.rank = 0
  AND g.pass = 'memory'
  AND g.side = 'host'
  AND g.class = 'phase'
  AND g.start_ns BETWEEN n.start_ns AND n.end_ns
ORDER BY setting, start
