-- SPDX-License-Identifier: Apache-2.0
-- caption: Training loss by step. A line has at most 200 points, each the mean of as many steps as necessary.
-- empty: No runs.
WITH trained AS (
  SELECT
    r.run_id,
    r.seed,
    r.repetition,
    coalesce(nullif(x.variant, ''), 'baseline') AS variant
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  JOIN run_series x ON x.run_id = r.run_id
  WHERE r.family = 'text_training' AND r.status = 'ok' AND r.passes NOT LIKE '%ops%'
),
chosen AS (
  SELECT
    min(run_id) AS run_id,
    variant || ', seed ' || seed AS line
  FROM trained
  GROUP BY variant, seed
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
