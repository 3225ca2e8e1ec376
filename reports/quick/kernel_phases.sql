-- SPDX-License-Identifier: Apache-2.0
-- caption: GPU activity per step by phase.
-- column workload: title="workload", format="code"
-- column title: title="run"
-- column phase: title="phase", format="code"
-- column device_ms: title="kernels", unit="ms", format="significant"
-- column matmul_share: title="matmul", unit="%", digits=1
-- column largest_other: title="largest other class"
-- column largest_other_share: title="its share", unit="%", digits=1
-- column idle_ms: title="idle", unit="ms", format="significant", digits=3
-- column idle_share: title="idle share", unit="%", digits=1
-- column gaps: title="gaps", format="significant", digits=3
-- note: Kernels: total duration of kernels, copies and memsets launched in the phase. Idle: time in the phase during
--   which none of them ran.
-- empty: No kernel records. On a GPU, add `--passes time,trace` to the command.
SELECT
  r.workload,
  s.title,
  m.phase,
  m.device_ms,
  100 * m.matmul_share AS matmul_share,
  m.largest_other,
  100 * m.largest_other_share AS largest_other_share,
  g.idle_ms,
  100 * g.idle_share AS idle_share,
  g.gaps
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN matmul_share m ON m.run_id = r.run_id AND m.rank = 0
LEFT JOIN launch_gap g ON g.run_id = m.run_id AND g.rank = m.rank AND g.phase = m.phase
ORDER BY r.run_id, m.phase = 'step', m.phase = 'other', g.start_ns, m.phase
