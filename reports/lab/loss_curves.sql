-- SPDX-License-Identifier: Apache-2.0
-- caption: Training loss by step. A line has at most 200 points, each the mean of as many steps as
--   necessary. Each variant adds one optimisation to those of the previous one.
-- empty: No runs.
WITH chosen AS (
  SELECT
    min(t.run_id) AS run_id,
    l.label || ', seed ' || t.seed AS line
  FROM trained t
  JOIN labelled l ON l.variant = t.variant
  GROUP BY t.variant, t.seed
),
curve AS (
  SELECT
    c.run_id,
    c.line,
    m.step,
    m.value AS loss,
    (max(m.step) OVER (PARTITION BY c.run_id) + 200) / 200 AS steps_per_point
  FROM chosen c
  JOIN
    reported_metric m
    ON m.run_id = c.run_id AND m.name = 'loss' AND m.level = 'step' AND m.pass = 'time' AND m.rank = 0
)
SELECT
  line,
  min(step) AS step,
  avg(loss) AS loss
FROM curve
GROUP BY run_id, line, step / steps_per_point
ORDER BY run_id, min(step)
