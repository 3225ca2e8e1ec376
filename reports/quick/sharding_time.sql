-- SPDX-License-Identifier: Apache-2.0
-- caption: Step, state and traffic of the sharded optimizer, by scheme.
-- column setting: title="case", once=true
-- column scheme: title="scheme", format="code"
-- column mean_ms: title="step", unit="ms", format="measured", plus_minus="std_ms"
-- column optimizer_ms: title="optimizer", unit="ms", format="significant", digits=3
-- column communication_ms: title="communication", unit="ms", format="significant", digits=3
-- column ratio: title="of unsharded", unit="%", digits=1
-- column state: title="state of a rank", format="bytes"
-- column peak: title="peak of a rank", format="bytes"
-- column calls: title="calls per step", format="significant", digits=4
-- column traffic: title="traffic per step", format="bytes"
-- column verified: title="verified"
-- note: Of unsharded: its median step over that of the newest run of the same case without sharding. State is the
--   largest of the ranks, as the workload counts it; peak is the largest allocated size in the time pass.
-- note: Traffic is what a rank moves over its links in a step, from the calls that were traced: an all-reduce counts as
--   a reduce-scatter and an all-gather.
-- empty: The sharded optimizer was not timed: `kymo suite run quick` fills this section.
SELECT
  t.setting,
  t.scheme,
  CASE WHEN d.state <> '' THEN d.state ELSE t.mean_ms END AS mean_ms,
  CASE WHEN d.state = '' THEN t.std_ms END AS std_ms,
  t.optimizer_ms,
  t.communication_ms,
  100 * t.unsharded_ratio AS ratio,
  t.state_bytes AS state,
  t.peak_bytes AS peak,
  t.calls,
  t.traffic_bytes AS traffic,
  CASE WHEN d.state IN ('', 'failed') THEN d.verified END AS verified
FROM selected_run s
JOIN sharding_time t ON t.run_id = s.run_id
JOIN run_standing d ON d.run_id = t.run_id
ORDER BY t.setting, t.place, t.run_id
