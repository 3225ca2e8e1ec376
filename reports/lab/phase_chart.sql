-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time by optimisation, by phase.
-- empty: No runs.
WITH trained AS (
  SELECT t.*
  FROM selected_run s
  JOIN training_run t ON t.run_id = s.run_id
  WHERE t.is_observed = 0
),
variants AS (
  SELECT
    variant,
    min(run_id) AS position,
    lag(variant) OVER (ORDER BY min(run_id)) AS previous
  FROM trained
  GROUP BY variant
),
labelled AS (
  SELECT
    variant,
    position,
    previous,
    CASE WHEN variant LIKE previous || ', %' THEN substr(variant, length(previous) + 3) ELSE variant END AS label
  FROM variants
)
SELECT
  l.label,
  p.phase,
  median(p.median_ms) AS ms
FROM labelled l
JOIN trained t ON t.variant = l.variant
JOIN phase_time p ON p.run_id = t.run_id AND p.phase <> 'step'
GROUP BY l.position, l.label, p.phase
ORDER BY
  CASE p.phase
    WHEN 'data' THEN 0
    WHEN 'forward' THEN 1
    WHEN 'backward' THEN 2
    WHEN 'optimizer' THEN 3
    WHEN 'replay' THEN 4
    ELSE 5
  END,
  l.position
