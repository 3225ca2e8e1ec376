-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time, optimizer state and traffic of the sharded optimizer, by scheme.
-- column setting: title="configuration", once=true
-- column scheme: title="scheme", format="code"
-- column mean_ms: title="step", unit="ms", format="measured", plus_minus="std_ms"
-- column optimizer_ms: title="optimizer", unit="ms", format="significant", digits=3
-- column communication_ms: title="communication", unit="ms", format="significant", digits=3
-- column ratio: title="relative to unsharded", unit="%", digits=1
-- column state_bytes: title="optimizer state per rank", format="bytes"
-- column peak_bytes: title="peak memory per rank", format="bytes"
-- column calls: title="calls per step", format="significant", digits=4
-- column traffic_bytes: title="traffic per rank and step", format="bytes"
-- column verified: title="verified"
-- note: Relative to unsharded: median step over that of the newest unsharded run with the same configuration. Optimizer
--   state: maximum over ranks, as reported by the workload. Peak memory: maximum allocated in the time pass.
-- note: Traffic: bytes that a rank moves over its links per step, from the trace. An all-reduce counts as a
--   reduce-scatter plus an all-gather.
-- empty: No sharded optimizer runs: `kymo suite run quick` adds this data.
SELECT
  t.setting,
  t.variant AS scheme,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE t.mean_ms END AS mean_ms,
  CASE WHEN d.status_label = '' THEN t.std_ms END AS std_ms,
  t.optimizer_ms,
  t.communication_ms,
  100 * t.unsharded_ratio AS ratio,
  t.state_bytes AS state_bytes,
  t.peak_bytes AS peak_bytes,
  t.calls,
  t.traffic_bytes AS traffic_bytes,
  CASE WHEN d.status_label IN ('', 'failed') THEN d.verified END AS verified
FROM selected_run s
JOIN sharding_time t ON t.run_id = s.run_id
JOIN run_status d ON d.run_id = t.run_id
ORDER BY t.setting, t.scheme_order, t.run_id
