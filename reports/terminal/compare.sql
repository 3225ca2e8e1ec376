-- SPDX-License-Identifier: Apache-2.0
-- The cases of `kymo compare --json`, each with `texts`: its parameters, the verdict
-- and the runs that it needs.
-- column workload: omit=1
-- column times: optional=true
-- column before_ns: title="{what}before", unit="ns", prefix="auto", format="significant", digits=3
-- column before_runs: title="runs", align="right", omit=3
-- column after_ns: title="{what}after", unit="ns", prefix="auto", format="significant", digits=3
-- column after_runs: title="runs", align="right", omit=3
-- column change: align="right"
-- column interval: title="95 % interval", align="right", omit=2
-- column p: align="right", omit=4
-- column needs_runs: align="right", optional=true, omit=3
WITH compared AS MATERIALIZED (
  SELECT
    c.key,
    c.value AS pair,
    c.value -> 'texts' AS texts,
    c.value ->> '$.before.failed' AS before_failed,
    c.value ->> '$.after.failed' AS after_failed,
    c.value ->> '$.before.runs' AS before_runs,
    c.value ->> '$.after.runs' AS after_runs,
    min(c.value ->> 'statistic') OVER () = max(c.value ->> 'statistic') OVER () AS is_common
  FROM json_each(:cases) c
)
SELECT
  c.pair ->> 'workload' AS workload,
  c.texts ->> 'parameters' AS parameters,
  iif(c.is_common, NULL, (c.pair ->> 'statistic') || iif(c.pair ->> 'statistic' = 'fastest', ' steps', 's')) AS times,
  c.pair ->> '$.before.time_ns' AS before_ns,
  c.before_runs || iif(c.before_failed > 0, ' of ' || (c.before_runs + c.before_failed), '') AS before_runs,
  c.pair ->> '$.after.time_ns' AS after_ns,
  c.after_runs || iif(c.after_failed > 0, ' of ' || (c.after_runs + c.after_failed), '') AS after_runs,
  ratio_text(c.pair ->> 'ratio') AS change,
  ratio_interval(c.pair ->> 'ratio', c.pair ->> 'ratio_low', c.pair ->> 'ratio_high') AS interval,
  CASE
    WHEN c.pair ->> 'probability' < 0.001 THEN '<0.001'
    WHEN c.pair ->> 'probability' IS NOT NULL THEN printf('%.3f', c.pair ->> 'probability')
  END AS p,
  c.texts ->> 'verdict' AS verdict,
  nullif(c.texts ->> 'needs', '') AS needs_runs,
  iif(c.is_common, c.pair ->> 'statistic' || ' ', '')
  || iif(c.pair ->> 'phase' = 'step', '', (c.pair ->> 'phase') || ' ') AS what
FROM compared c
ORDER BY c.key
