-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of one step of every run.
-- column workload: title="workload", format="code"
-- column title: title="case"
-- column device: title="device"
-- column count: title="steps"
-- column mean_ms: title="step", unit="ms", format="measured", plus_minus="std_ms"
-- column gflop_per_s: title="throughput", unit="GFLOP/s", format="significant", digits=4
-- column gbyte_per_s: title="bandwidth", unit="GB/s", format="significant", digits=4
-- column verified: title="verified"
-- note: A device with a factor is that many ranks, one process each; a step then lasts as long as the slowest.
-- note: A dash stands where nothing was declared or measured.
-- empty: There are no runs.
SELECT
  r.workload,
  i.title,
  r.device_kind || CASE WHEN r.ranks > 1 THEN ' × ' || r.ranks ELSE '' END AS device,
  t.count,
  CASE WHEN d.state <> '' THEN d.state ELSE t.mean_ms END AS mean_ms,
  CASE WHEN d.state = '' THEN t.std_ms END AS std_ms,
  CASE WHEN d.state = '' THEN w.flops_per_s / 1e9 END AS gflop_per_s,
  CASE WHEN d.state = '' THEN w.bytes_per_s / 1e9 END AS gbyte_per_s,
  CASE WHEN d.state IN ('', 'failed') THEN d.verified END AS verified
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN run_title i ON i.run_id = r.run_id
JOIN run_standing d ON d.run_id = r.run_id
LEFT JOIN phase_time t ON t.run_id = r.run_id AND t.phase = 'step'
LEFT JOIN throughput w ON w.run_id = r.run_id AND w.phase = 'step'
ORDER BY r.run_id
