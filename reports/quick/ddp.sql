-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time of data-parallel training by strategy.
-- column setting: title="configuration", once=true
-- column strategy: title="strategy"
-- column mean_ms: title="step", unit="ms", format="measured", plus_minus="std_ms"
-- column median_ms: title="median", unit="ms", format="significant", digits=4
-- column communication_ms: title="communication", unit="ms", format="significant", digits=3
-- column share: title="share of step", unit="%", digits=1
-- column speedup: title="speedup", format="significant", digits=3
-- column tokens: title="total tokens per second", format="significant", digits=4
-- column spread_ms: title="rank spread", unit="ms", format="significant", digits=2
-- column verified: title="verified"
-- note: Communication is the phase of that name, mean over ranks: communication that is not hidden by backward. Its
--   share is relative to the mean step of the ranks.
-- note: Speedup: median step of the baseline, which is the first strategy of the configuration, over that of this
--   strategy. "no exchange" omits the gradient exchange: it gives the compute-only time, and wrong training results.
-- empty: No data-parallel training measured: `kymo suite run quick` adds this data.
SELECT
  x.setting,
  x.strategy,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE x.mean_ms END AS mean_ms,
  CASE WHEN d.status_label = '' THEN x.std_ms END AS std_ms,
  x.median_ms,
  x.communication_ms,
  100 * x.communication_share AS share,
  x.speedup,
  x.tokens_per_s AS tokens,
  x.spread_ms,
  CASE WHEN d.status_label IN ('', 'failed') THEN d.verified END AS verified
FROM selected_run s
JOIN ddp_summary x ON x.run_id = s.run_id AND x.family = 'data_parallel'
JOIN run_status d ON d.run_id = s.run_id
ORDER BY x.setting, x.strategy_order, x.bucket_mb, s.run_id
