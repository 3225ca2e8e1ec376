-- SPDX-License-Identifier: Apache-2.0
-- Variants in the order of their first runs. A label omits what a variant has in common with the previous one.
WITH variants AS (
  SELECT
    variant,
    min(run_id) AS position,
    lag(variant) OVER (ORDER BY min(run_id)) AS previous
  FROM trained
  GROUP BY variant
)
SELECT
  variant,
  position,
  previous,
  CASE WHEN variant LIKE previous || ', %' THEN substr(variant, length(previous) + 3) ELSE variant END AS label
FROM variants
