-- SPDX-License-Identifier: Apache-2.0
-- caption: Slow devices and machines.
-- column host: title="host", format="code"
-- column part: title="what"
-- column suite_case: title="case", format="code"
-- column title: title="run", optional=true
-- column time_ms: title="median step", unit="ms", format="significant", digits=4
-- column median_ms: title="median of all", unit="ms", format="significant", digits=4
-- column excess_percent: title="slower by", unit="%", digits=1
-- column limit_percent: title="limit", unit="%", digits=1
-- column measurements: title="measured by"
-- column sm_clock_mhz: title="SM clock", unit="MHz", format="fixed", digits=0, optional=true
-- column mean_sm_clock_mhz: title="mean of all", unit="MHz", format="fixed", digits=0, optional=true
-- note: GPU n is that of rank n. A machine is slow in a case of all of its ranks, which the slowest of them determines.
-- note: The limit is 3 %, or more where the times spread: 5 + 24 / n standard deviations for n that measured the case,
--   with 1.4826 times the median absolute deviation as the standard deviation.
-- empty: No measurement that could be judged is above its limit.
SELECT
  f.host,
  CASE
    WHEN f.part = 'machine' THEN 'machine'
    WHEN f.sm_clock_mhz IS NOT NULL OR r.device_kind = 'cuda' THEN 'GPU ' || f.rank
    ELSE 'processor'
  END AS part,
  f.suite_case,
  t.title_in_case AS title,
  f.time_ms,
  f.median_ms,
  100 * f.excess AS excess_percent,
  100 * f.limit_excess AS limit_percent,
  f.measurements,
  f.sm_clock_mhz,
  f.mean_sm_clock_mhz
FROM fleet_measurement f
JOIN run r ON r.run_id = f.run_id
JOIN run_title t ON t.run_id = f.run_id
WHERE f.verdict = 'slow'
ORDER BY f.excess DESC, f.host, f.rank
