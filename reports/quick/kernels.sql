-- SPDX-License-Identifier: Apache-2.0
-- caption: Top kernels of each run by device time.
-- column workload: title="workload", format="code"
-- column title: title="run"
-- column kernel: title="kernel", format="code"
-- column class: title="class"
-- column calls: title="calls"
-- column mean_us: title="per call", unit="µs", format="significant", digits=3
-- column total_ms: title="per step", unit="ms", format="significant", digits=3
-- column share: title="share", unit="%", digits=1
-- note: Calls are per step. The share is relative to the device time of the step. Long names are truncated; see the
--   view kernel_summary for full names.
-- empty: No kernel records. On a GPU, add `--passes time,trace` to the command.
SELECT
  r.workload,
  s.title,
  k.kernel,
  k.class,
  k.calls,
  k.mean_us,
  k.total_ms,
  k.share
FROM ranked k
JOIN run r ON r.run_id = k.run_id
JOIN selected_run s ON s.run_id = k.run_id
WHERE k.position <= 3
ORDER BY k.run_id, k.position
