-- SPDX-License-Identifier: Apache-2.0
-- caption: What was compared.
-- column suite_case: title="case", format="code"
-- column title: title="run", optional=true
-- column device_name: title="device", once=true
-- column part: title="of each"
-- column measurements: title="measured by"
-- column median_ms: title="median", unit="ms", format="significant", digits=4
-- column spread_percent: title="spread", unit="%", digits=2
-- column limit_percent: title="limit", unit="%", digits=1
-- column fastest_percent: title="fastest", unit="%", digits=1
-- column slowest_percent: title="slowest", unit="%", digits=1
-- column found: title="slow"
-- note: Times are median steps. The spread is 1.4826 times the median absolute deviation, as a share of the median; a
--   difference below the limit is not found.
-- note: If many of them are slow, the median is, too: compare it with a machine that is known to be good.
-- empty: No successful runs with step times: `kymo suite run node` on each machine measures them.
SELECT
  f.suite_case,
  t.title_in_case AS title,
  f.device_name,
  f.part,
  f.measurements,
  f.median_ms,
  148.26 * f.mad_ms / f.median_ms AS spread_percent,
  CASE WHEN f.measurements >= 6 THEN 100 * f.limit_excess END AS limit_percent,
  100 * min(f.excess) AS fastest_percent,
  100 * max(f.excess) AS slowest_percent,
  CASE WHEN f.measurements >= 6 THEN CAST(sum(f.verdict = 'slow') AS TEXT) ELSE 'too few' END AS found
FROM fleet_measurement f
JOIN run_title t ON t.run_id = f.run_id
GROUP BY f.case_key, f.part, f.device_name
ORDER BY min(f.run_id)
