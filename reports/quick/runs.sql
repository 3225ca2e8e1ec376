-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time of every run.
-- column workload: title="workload", format="code"
-- column title: title="run"
-- column device: title="device"
-- column count: title="steps"
-- column mean_ms: title="step", unit="ms", prefix="auto", format="measured", plus_minus="std_ms"
-- column flop_per_s: title="throughput per rank", unit="FLOP/s", prefix="auto", format="significant", digits=3
-- column byte_per_s: title="memory bandwidth per rank", unit="B/s", prefix="auto", format="significant", digits=3
-- column verified: title="verified"
-- note: "× n": n ranks, one process each. The slowest rank determines the step time.
-- note: Throughput and bandwidth are the declared work over the mean step. – means: not declared or not measured.
-- empty: No runs.
SELECT
  r.workload,
  s.title,
  r.device_kind || CASE WHEN r.ranks > 1 THEN ' × ' || r.ranks ELSE '' END AS device,
  t.count,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE t.mean_ms END AS mean_ms,
  CASE WHEN d.status_label = '' THEN t.std_ms END AS std_ms,
  CASE WHEN d.status_label = '' THEN w.flops_per_s END AS flop_per_s,
  CASE WHEN d.status_label = '' THEN w.bytes_per_s END AS byte_per_s,
  CASE WHEN d.status_label IN ('', 'failed') THEN d.verified END AS verified
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN run_status d ON d.run_id = r.run_id
LEFT JOIN phase_time t ON t.run_id = r.run_id AND t.phase = 'step'
LEFT JOIN throughput w ON w.run_id = r.run_id AND w.phase = 'step'
ORDER BY r.run_id
