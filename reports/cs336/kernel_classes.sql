-- SPDX-License-Identifier: Apache-2.0
-- caption: Device time per step by kernel class and phase:
-- empty: No kernels of the case `kernels`: `kymo suite run cs336 --filter kernels` on a GPU adds this data.
-- The smallest and the largest trained size, each at its longest context. Classes below 1 % of the step are combined.
WITH trained AS (
  SELECT
    t.run_id,
    t.size,
    t.context,
    row_number() OVER (ORDER BY t.size_order, t.context DESC, t.run_id DESC) AS smallest_first,
    row_number() OVER (ORDER BY t.size_order DESC, t.context DESC, t.run_id DESC) AS largest_first
  FROM traced t
  JOIN kernel_pass k ON k.run_id = t.run_id AND k.rank = 0
  WHERE t.status = 'ok' AND t.mode = 'train'
),
summed AS (
  SELECT
    t.run_id,
    t.size || ', context ' || t.context AS setting,
    t.smallest_first,
    e.phase,
    e.class,
    sum(e.total_ns) / 1e6 / max(e.steps) AS total_ms
  FROM trained t
  CROSS JOIN kernel_entry e ON e.run_id = t.run_id AND e.rank = 0
  WHERE t.smallest_first = 1 OR t.largest_first = 1
  GROUP BY t.run_id, e.phase, e.class
),
named AS (
  SELECT
    *,
    CASE
      WHEN sum(total_ms) OVER (PARTITION BY run_id, class) < 0.01 * sum(total_ms) OVER (PARTITION BY run_id)
        THEN 'other classes'
      ELSE class
    END AS shown,
    sum(total_ms) OVER (PARTITION BY run_id, class) AS class_ms
  FROM summed
)
SELECT
  setting,
  phase,
  shown AS class,
  sum(total_ms) AS total_ms
FROM named
GROUP BY setting, smallest_first, phase, shown
ORDER BY
  smallest_first,
  CASE phase WHEN 'forward' THEN 0 WHEN 'backward' THEN 1 WHEN 'optimizer' THEN 2 ELSE 3 END,
  phase,
  shown = 'other classes',
  max(class_ms) DESC,
  shown
