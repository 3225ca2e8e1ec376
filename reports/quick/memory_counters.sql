-- SPDX-License-Identifier: Apache-2.0
-- What the allocator reserved beyond the blocks of memory_area.sql.
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
  x.name,
  x.unit,
  x.time_ns,
  x.value,
  x.counter_order
FROM chosen n
CROSS JOIN timeline_counter x ON x.run_id = n.run_id AND x.rank = 0 AND x.pass = 'memory'
WHERE x.unit = 'B' AND x.time_ns BETWEEN n.start_ns AND n.end_ns
ORDER BY setting, counter_order, time_ns
