-- SPDX-License-Identifier: Apache-2.0
-- The times of the phases, first the statistic that represents the run. Rates of several ranks are per rank.
-- column clock: omit=2
-- column samples: omit=1
-- column mean_first: title="mean", unit="ns", prefix="auto", format="significant", digits=3, plus_minus="half_width",
--   relative=true, optional=true
-- column median_ns: title="median", unit="ns", prefix="auto", format="significant", digits=3,
--   plus_minus="median_half_width", relative=true
-- column mean_ns: title="mean", unit="ns", prefix="auto", format="significant", digits=3, optional=true
-- column std_ns: title="std", unit="ns", prefix="auto", format="significant", digits=3, optional=true
-- column min_ns: title="min", unit="ns", prefix="auto", format="significant", digits=3, omit=1
-- column max_ns: title="max", unit="ns", prefix="auto", format="significant", digits=3, omit=1
-- column flops_per_s: title="FLOP/s{per_rank}", prefix="auto", unit="1", format="significant", digits=3,
--   optional=true, omit=3
-- column bytes_per_s: title="B/s{per_rank}", prefix="auto", unit="1", format="significant", digits=3, optional=true,
--   omit=3
-- column algbw_gb_s: title="algbw", unit="GB/s", prefix="auto", format="significant", digits=3, optional=true
-- column busbw_gb_s: title="busbw", unit="GB/s", prefix="auto", format="significant", digits=3, optional=true
WITH phase AS MATERIALIZED (
  SELECT
    p.key AS phase,
    p.value AS time,
    iif(r.value ->> 'ranks' > 1, ' per rank', '') AS per_rank,
    first_value(p.value ->> 'statistic') OVER () = 'mean' AS by_mean
  FROM json_each(:runs) r, json_each(r.value, '$.phases') p
)
SELECT
  p.phase,
  p.per_rank,
  p.time ->> 'clock' AS clock,
  p.time ->> 'count' AS samples,
  iif(p.by_mean, p.time ->> 'mean_ns', NULL) AS mean_first,
  p.time ->> 'median_ns' AS median_ns,
  iif(p.by_mean, NULL, p.time ->> 'mean_ns') AS mean_ns,
  p.time ->> 'std_ns' AS std_ns,
  p.time ->> 'min_ns' AS min_ns,
  p.time ->> 'max_ns' AS max_ns,
  p.time ->> 'flops_per_s' AS flops_per_s,
  p.time ->> 'bytes_per_s' AS bytes_per_s,
  p.time ->> 'algbw_gb_s' AS algbw_gb_s,
  p.time ->> 'busbw_gb_s' AS busbw_gb_s,
  max(p.time ->> 'mean_ns' - p.time ->> 'ci_low_ns', p.time ->> 'ci_high_ns' - p.time ->> 'mean_ns')
  / nullif(p.time ->> 'mean_ns', 0) AS half_width,
  iif(
    p.by_mean,
    NULL,
    max(p.time ->> 'median_ns' - p.time ->> 'median_low_ns', p.time ->> 'median_high_ns' - p.time ->> 'median_ns')
    / nullif(p.time ->> 'median_ns', 0)
  ) AS median_half_width
FROM phase p
