-- SPDX-License-Identifier: Apache-2.0
-- What the allocator reserved beyond the blocks of memory_area.sql.
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
