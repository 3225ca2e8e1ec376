-- SPDX-License-Identifier: Apache-2.0
-- The pairs of `kymo run --against --json`, each side with the text `settings`.
-- column parameters: optional=true
-- column runs: omit=2
-- column clock: omit=3
-- column time_ns: title="{what}", unit="ns", prefix="auto", format="significant", digits=3
-- column flops: title="FLOP/s{per_rank}", prefix="auto", unit="1", format="significant", digits=3, optional=true,
--   omit=1
-- column bytes: title="B/s{per_rank}", prefix="auto", unit="1", format="significant", digits=3, optional=true, omit=1
-- column algbw: unit="GB/s", prefix="auto", format="significant", digits=3, optional=true, omit=1
-- column busbw: unit="GB/s", prefix="auto", format="significant", digits=3, optional=true, omit=1
-- column change: align="right", optional=true
-- column interval: title="95 % interval", align="right", optional=true
SELECT
  r.value ->> 'workload' AS workload,
  nullif(r.value ->> 'settings', '') AS parameters,
  r.value ->> 'runs' AS runs,
  r.value ->> 'clock' AS clock,
  r.value ->> 'time_ns' AS time_ns,
  r.value ->> 'flops_per_s' AS flops,
  r.value ->> 'bytes_per_s' AS bytes,
  r.value ->> 'algbw_gb_s' AS algbw,
  r.value ->> 'busbw_gb_s' AS busbw,
  iif(r.value ->> 'verdict' IS NULL, NULL, ratio_text(r.value ->> 'ratio')) AS change,
  ratio_interval(r.value ->> 'ratio', r.value ->> 'ratio_low', r.value ->> 'ratio_high') AS interval,
  r.value ->> 'verdict' AS verdict,
  iif(min(r.value ->> 'statistic') OVER () = max(r.value ->> 'statistic') OVER (), r.value ->> 'statistic' || ' ', '')
  || 'step' AS what,
  iif(max(r.value ->> 'ranks') OVER () > 1, ' per rank', '') AS per_rank
FROM json_each(:rows) r
ORDER BY r.key
