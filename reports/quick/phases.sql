-- SPDX-License-Identifier: Apache-2.0
-- caption: Phase times of every run with phases.
-- column workload: title="workload", format="code"
-- column title: title="run"
-- column phase: title="phase", format="code"
-- column mean_ms: title="mean", unit="ms", prefix="auto", format="measured", plus_minus="std_ms"
-- column median_ms: title="median", unit="ms", prefix="auto", format="significant", digits=4
-- column share: title="share of step", unit="%", digits=1
-- column flop_per_s: title="throughput per rank", unit="FLOP/s", prefix="auto", format="significant", digits=3
-- note: `other`, the time outside of all phases, is shown from 1 % of the step.
-- empty: No workload defines phases.
SELECT
  r.workload,
  s.title,
  t.phase,
  t.mean_ms,
  t.std_ms,
  t.median_ms,
  100.0 * t.mean_ms / w.mean_ms AS share,
  g.flops_per_s AS flop_per_s
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN phase_time t ON t.run_id = r.run_id AND t.phase <> 'step'
JOIN phase_time w ON w.run_id = r.run_id AND w.phase = 'step'
LEFT JOIN throughput g ON g.run_id = r.run_id AND g.phase = t.phase
LEFT JOIN step_time x ON x.run_id = r.run_id AND x.step = r.warmup AND x.phase = t.phase
WHERE r.status = 'ok' AND (t.phase <> 'other' OR t.mean_ms >= 0.01 * w.mean_ms)
ORDER BY r.workload, r.run_id, t.phase = 'other', x.start_ns
