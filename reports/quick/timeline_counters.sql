-- SPDX-License-Identifier: Apache-2.0
-- Clocks, power, temperature and memory for timeline.sql.
WITH recent AS (
  SELECT
    s.run_id,
    r.workload || ', ' || s.title AS run,
    row_number() OVER (ORDER BY r.ranks, s.run_id DESC) AS run_order
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  WHERE EXISTS (SELECT 1 FROM timeline_step t WHERE t.run_id = s.run_id AND t.rank = 0)
  ORDER BY r.ranks, s.run_id DESC
  LIMIT 4
),
chosen AS MATERIALIZED (
  SELECT
    n.run,
    n.run_order,
    t.run_id,
    t.rank,
    t.pass,
    t.step,
    min(t.step_start_ns) OVER (PARTITION BY t.run_id) AS zero_ns,
    row_number() OVER (PARTITION BY t.run_id, t.rank ORDER BY t.preferred DESC) AS position
  FROM recent n
  CROSS JOIN timeline_step t ON t.run_id = n.run_id AND t.rank < 8
)
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
WHERE c.position = 1 AND x.value IS NOT NULL
ORDER BY run_order, rank, counter_order, time_ns
