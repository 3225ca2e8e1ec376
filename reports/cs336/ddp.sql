-- SPDX-License-Identifier: Apache-2.0
-- caption: Step of data-parallel training by strategy.
-- column setting: title="case", once=true
-- column strategy: title="strategy"
-- column mean_ms: title="step", unit="ms", format="measured", plus_minus="std_ms"
-- column median_ms: title="median", unit="ms", format="significant", digits=4
-- column communication_ms: title="communication", unit="ms", format="significant", digits=3
-- column share: title="of step", unit="%", digits=1
-- column speedup: title="speed-up", format="significant", digits=3
-- column tokens: title="tokens per second", format="significant", digits=4
-- column spread_ms: title="between ranks", unit="ms", format="significant", digits=2
-- column verified: title="verified"
-- note: Communication is the phase of that name, mean over ranks: what is left to wait for once backward has ended. Its
--   share is of the mean step of the ranks.
-- note: Speed-up: median step of ddp_naive over this one's. No exchange leaves communication out: its ranks learn
--   apart, and its time is what computing alone takes.
-- empty: No data-parallel training was timed: `kymo suite run cs336 --filter ddp` fills this section.
SELECT
  x.setting,
  x.strategy,
  CASE WHEN d.state <> '' THEN d.state ELSE x.mean_ms END AS mean_ms,
  CASE WHEN d.state = '' THEN x.std_ms END AS std_ms,
  x.median_ms,
  x.communication_ms,
  100 * x.communication_share AS share,
  x.speedup,
  x.tokens_per_s AS tokens,
  x.spread_ms,
  CASE WHEN d.state IN ('', 'failed') THEN d.verified END AS verified
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336' AND r.workload <> 'sharded_optimizer'
JOIN ddp_summary x ON x.run_id = r.run_id
JOIN run_standing d ON d.run_id = r.run_id
JOIN ddp_run p ON p.run_id = r.run_id
ORDER BY x.setting, x.strategy_order, p.bucket_mb, r.run_id
