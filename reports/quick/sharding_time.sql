-- SPDX-License-Identifier: Apache-2.0
-- caption: Step, state and traffic of the sharded optimizer, by scheme.
-- column setting: title="case"
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
-- note: Of unsharded: its median step over that of the newest run of the same case without sharding. State is the largest of the ranks, as the workload counts it; peak is the largest allocated size in the time pass.
-- note: Traffic is what a rank moves over its links in a step, from the calls that were traced: an all-reduce counts as a reduce-scatter and an all-gather.
-- empty: The sharded optimizer was not timed: `kymo suite run quick` fills this section.
SELECT p.setting, p.scheme, CASE WHEN d.state <> '' THEN d.state ELSE x.mean_ms END AS mean_ms, CASE WHEN d.state = '' THEN x.std_ms END AS std_ms, x.optimizer_ms, x.communication_ms,
       100 * x.median_ms / (SELECT y.median_ms FROM ddp_summary y JOIN ddp_run n ON n.run_id = y.run_id AND n.scheme = 'none' AND n.communicate = p.communicate
                            WHERE y.family = x.family AND y.median_ms > 0 ORDER BY y.run_id DESC LIMIT 1) AS ratio,
       (SELECT max(v.value) FROM metric v WHERE v.run_id = r.run_id AND v.name = 'optimizer_state_bytes') AS state, m.allocated_peak_bytes AS peak,
       (SELECT sum(c.calls) FROM collective_summary c WHERE c.run_id = r.run_id AND c.pass = 'trace') AS calls,
       (SELECT sum(c.bus_bytes) FROM collective_summary c WHERE c.run_id = r.run_id AND c.pass = 'trace') AS traffic,
       CASE WHEN d.state IN ('', 'failed') THEN d.verified END AS verified
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN ddp_run p ON p.run_id = r.run_id AND p.workload = 'sharded_optimizer'
JOIN ddp_summary x ON x.run_id = r.run_id
JOIN run_standing d ON d.run_id = r.run_id
LEFT JOIN run_memory m ON m.run_id = r.run_id
ORDER BY p.setting, CASE p.scheme WHEN 'none' THEN 0 WHEN 'broadcast' THEN 1 ELSE 2 END, r.run_id
