-- SPDX-License-Identifier: Apache-2.0
-- The runs that `kymo runs --json` prints, each with the time that represents it, and the text `settings`.
-- column run: format="plain"
-- column started: title="started (UTC)", align="right", omit=3
-- column label: optional=true
-- column case: optional=true, omit=2
-- column workload: omit=1
-- column parameters: optional=true
-- column median_ns: title="median step", unit="ns", prefix="auto", format="significant", digits=3,
--   plus_minus="median_half_width", relative=true, optional=true
-- column mean_ns: title="mean step", unit="ns", prefix="auto", format="significant", digits=3,
--   plus_minus="half_width", relative=true, optional=true
WITH shown AS MATERIALIZED (
  SELECT
    r.key,
    r.value AS run,
    r.value -> '$.phases.step' AS step
  FROM json_each(:runs) r
)
SELECT
  s.run ->> 'run_id' AS run,
  substr(s.run ->> 'started_at', 1, 19) AS started,
  nullif(s.run ->> 'label', '') AS label,
  nullif(s.run ->> 'suite_case', '') AS "case",
  s.run ->> 'workload' AS workload,
  nullif(s.run ->> 'settings', '') AS parameters,
  iif(s.step ->> 'statistic' = 'median', s.step ->> 'median_ns', NULL) AS median_ns,
  iif(s.step ->> 'statistic' = 'mean', s.step ->> 'mean_ns', NULL) AS mean_ns,
  s.run ->> 'status' AS status,
  max(s.step ->> 'median_ns' - s.step ->> 'median_low_ns', s.step ->> 'median_high_ns' - s.step ->> 'median_ns')
  / nullif(s.step ->> 'median_ns', 0) AS median_half_width,
  max(s.step ->> 'mean_ns' - s.step ->> 'ci_low_ns', s.step ->> 'ci_high_ns' - s.step ->> 'mean_ns')
  / nullif(s.step ->> 'mean_ns', 0) AS half_width
FROM shown s
ORDER BY s.key
