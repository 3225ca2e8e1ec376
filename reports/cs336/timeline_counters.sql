-- SPDX-License-Identifier: Apache-2.0
-- Clocks, power, temperature and memory for timeline.sql.
WITH newest AS (
  SELECT
    t.run_id,
    t.pass,
    t.step,
    t.step_start_ns AS zero_ns,
    r.suite_case || ', ' || coalesce(m.size || ', context ' || m.context || ', ' || m.mode, x.title) AS setting
  FROM selected_run s
  CROSS JOIN timeline_step t ON t.run_id = s.run_id AND t.rank = 0
  JOIN run r ON r.run_id = s.run_id
  JOIN run_series x ON x.run_id = s.run_id
  LEFT JOIN transformer_run m ON m.run_id = s.run_id
  ORDER BY
    r.suite_case = 'kernels' DESC, m.mode = 'train' DESC, m.size_order DESC, m.context, t.run_id DESC, t.preferred DESC
  LIMIT 1
),
chosen AS MATERIALIZED (
  SELECT
    n.*,
    t.rank
  FROM newest n
  CROSS JOIN timeline_step t ON t.run_id = n.run_id AND t.pass = n.pass AND t.rank < 8
)
SELECT
  c.setting,
  c.rank AS rank,
  x.name,
  x.unit,
  x.time_ns - c.zero_ns AS time_ns,
  x.value,
  x.counter_order
FROM chosen c
CROSS JOIN timeline_counter x ON x.run_id = c.run_id AND x.rank = c.rank AND x.pass = c.pass
WHERE x.value IS NOT NULL
ORDER BY rank, counter_order, time_ns
