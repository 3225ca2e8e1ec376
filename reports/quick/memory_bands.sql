-- SPDX-License-Identifier: Apache-2.0
-- Phase bands for memory_area.sql.
WITH chosen AS (
  SELECT
    r.run_id,
    r.device_kind,
    y.start_ns,
    y.end_ns,
    r.workload || ', ' || s.title AS setting
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.status = 'ok'
  JOIN memory_steps y ON y.run_id = r.run_id AND y.rank = 0
  WHERE EXISTS (SELECT 1 FROM memory_block b WHERE b.run_id = r.run_id AND b.rank = 0 AND b.pass = 'memory')
  ORDER BY r.ranks, r.run_id DESC
  LIMIT 1
)
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
