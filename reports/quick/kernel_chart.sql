-- SPDX-License-Identifier: Apache-2.0
-- caption: Device time per step by kernel class:
-- empty: No kernel records. On a GPU, add `--passes time,trace` to the command.
-- Classes below 1 % of a run's step are combined.
WITH shown AS (
  SELECT run_id
  FROM (
    SELECT
      r.run_id,
      row_number() OVER (PARTITION BY r.workload ORDER BY r.run_id) AS position
    FROM selected_run s
    JOIN run r ON r.run_id = s.run_id
    JOIN kernel_pass k ON k.run_id = r.run_id AND k.rank = 0
  )
  WHERE position <= 20
),
summed AS (
  SELECT
    y.run_id,
    e.class,
    sum(e.total_ns) / 1e6 / max(e.steps) AS total_ms
  FROM shown y
  CROSS JOIN kernel_entry e ON e.run_id = y.run_id AND e.rank = 0
  GROUP BY y.run_id, e.class
),
named AS (
  SELECT
    *,
    CASE WHEN total_ms < 0.01 * sum(total_ms) OVER (PARTITION BY run_id) THEN 'other classes' ELSE class END AS shown_as
  FROM summed
)
SELECT
  r.workload,
  r.run_id,
  i.title,
  n.shown_as AS class,
  sum(n.total_ms) AS total_ms
FROM named n
JOIN run r ON r.run_id = n.run_id
JOIN selected_run i ON i.run_id = r.run_id
GROUP BY r.run_id, n.shown_as
ORDER BY r.workload, r.run_id, n.shown_as = 'other classes', total_ms DESC, n.shown_as
