-- SPDX-License-Identifier: Apache-2.0
-- Clocks, power, temperature and memory for timeline.sql.
SELECT
  c.run,
  c.rank AS rank,
  x.name,
  x.unit,
  x.time_ns - c.zero_ns AS time_ns,
  x.value,
  c.run_order,
  x.counter_order
FROM chosen c
CROSS JOIN timeline_counter x ON x.run_id = c.run_id AND x.rank = c.rank AND x.pass = c.pass
WHERE x.value IS NOT NULL
ORDER BY run_order, rank, counter_order, time_ns
