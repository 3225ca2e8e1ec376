-- SPDX-License-Identifier: Apache-2.0
-- The steps after the observed ones, in which nothing is recorded.
-- column steps: format="plain"
-- column median_ms: unit="ms", prefix="auto", format="significant", digits=3
SELECT
  s.pass,
  CAST(s.value AS INTEGER) AS steps,
  m.value AS median_ms
FROM reported_metric s
JOIN reported_metric m
  ON m.run_id = s.run_id AND m.rank = s.rank AND m.pass = s.pass AND m.name = 'later_step_median'
WHERE
  s.name = 'later_steps' AND s.run_id = :run AND s.rank = (SELECT min(k.rank) FROM rank k WHERE k.run_id = :run)
ORDER BY s.pass
