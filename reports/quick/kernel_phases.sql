-- SPDX-License-Identifier: Apache-2.0
-- caption: What the GPU did in each phase, per step.
-- column workload: title="workload", format="code"
-- column title: title="case"
-- column phase: title="phase", format="code"
-- column device_ms: title="kernels", unit="ms", format="significant"
-- column matmul_share: title="matrix products", unit="%", digits=1
-- column largest_other: title="most of the rest"
-- column largest_other_share: title="its share", unit="%", digits=1
-- column idle_ms: title="idle", unit="ms", format="significant", digits=3
-- column idle_share: title="idle share", unit="%", digits=1
-- column gaps: title="gaps", format="significant", digits=3
-- note: Kernels are the sum of the durations of kernels, copies and memsets that were launched in the phase; idle is
--   the time in it during which none ran.
-- empty: No run here recorded kernels, which takes a GPU: add `--passes time,trace` to the command.
SELECT
  r.workload,
  i.title,
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
JOIN run_title i ON i.run_id = r.run_id
JOIN matmul_share m ON m.run_id = r.run_id AND m.rank = 0
LEFT JOIN launch_gap g ON g.run_id = m.run_id AND g.rank = m.rank AND g.phase = m.phase
ORDER BY
  r.run_id,
  m.phase = 'step',
  m.phase = 'other',
  (
    SELECT min(a.start_ns)
    FROM step_activity a
    WHERE a.run_id = m.run_id AND a.rank = m.rank AND a.pass = m.pass AND a.phase = m.phase
  ),
  m.phase
