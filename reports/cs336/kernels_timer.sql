-- SPDX-License-Identifier: Apache-2.0
-- caption: Kernel time per step compared with the time pass.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column mode: title="mode", format="code"
-- column timer_ms: title="time pass", unit="ms", format="measured", plus_minus="timer_std_ms"
-- column kernel_ms: title="kernels", unit="ms", format="significant"
-- column kernel_share: title="kernels / time pass", unit="%", digits=1
-- column busy_ms: title="GPU busy", unit="ms", format="significant"
-- column unused_share: title="time pass not busy", unit="%", digits=1
-- column stretch: title="traced / time pass", format="significant", digits=3
-- column idle_share: title="idle in the trace", unit="%", digits=1
-- column gaps: title="gaps", format="significant", digits=3
-- column longest_gap_us: title="longest gap", unit="µs", format="significant", digits=3
-- note: The time pass runs without profiling. Kernels: total duration of all kernels, copies and memsets; exceeds busy
--   if they overlap.
-- note: Busy: time of a traced step in which the GPU works. Time pass not busy: the part of the step without profiling
--   that this does not fill, at least zero. A traced step may be longer, by the given factor; its idle share is then
--   too high.
-- empty: No kernels of the case `kernels`: `kymo suite run cs336 --filter kernels` on a GPU adds this data.
WITH summed AS (
  SELECT
    t.run_id,
    sum(e.total_ns) / 1e6 / max(e.steps) AS kernel_ms
  FROM traced t
  CROSS JOIN kernel_entry e ON e.run_id = t.run_id AND e.rank = 0
  GROUP BY t.run_id
)
SELECT
  t.size,
  t.context,
  t.mode,
  p.mean_ms AS timer_ms,
  p.std_ms AS timer_std_ms,
  k.kernel_ms,
  100 * k.kernel_ms / nullif(p.mean_ms, 0) AS kernel_share,
  g.busy_ms,
  100 * max(0, 1 - g.busy_ms / nullif(p.mean_ms, 0)) AS unused_share,
  g.span_ms / nullif(p.mean_ms, 0) AS stretch,
  100 * g.idle_share AS idle_share,
  g.gaps,
  g.longest_gap_us
FROM traced t
JOIN summed k ON k.run_id = t.run_id
LEFT JOIN phase_time p ON p.run_id = t.run_id AND p.phase = 'step'
LEFT JOIN launch_gap g ON g.run_id = t.run_id AND g.rank = 0 AND g.phase = 'step'
ORDER BY t.size_order, t.size, t.context, t.precision, t.mode, t.run_id
