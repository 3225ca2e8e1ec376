-- SPDX-License-Identifier: Apache-2.0
-- caption: Top kernel of a step by device time, by size, context and mode.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column mode: title="mode", format="code"
-- column kernel: title="kernel", format="code", align="left"
-- column class: title="class"
-- column calls: title="calls"
-- column mean_us: title="per call", unit="µs", format="significant", digits=3
-- column total_ms: title="per step", unit="ms", format="significant", digits=3
-- column share: title="share", unit="%", digits=1
-- note: Calls are per step. The share is relative to the device time of all kernels, copies and memsets. Long names are
--   truncated; see the view kernel_summary for full names.
-- note: Mode forward runs inference; train runs forward, backward and optimizer.
-- empty: No kernels of the case `kernels`: `kymo suite run cs336 --filter kernels` on a GPU adds this data.
SELECT
  t.size,
  t.context,
  t.mode,
  coalesce(k.kernel, CASE d.status_label WHEN '' THEN 'not recorded' ELSE d.status_label END) AS kernel,
  k.class,
  k.calls,
  k.mean_us,
  k.total_ms,
  k.share
FROM traced t
JOIN run_status d ON d.run_id = t.run_id
LEFT JOIN ranked k ON k.run_id = t.run_id AND k.position = 1
WHERE t.device_kind = 'cuda'
ORDER BY t.size_order, t.size, t.context, t.precision, t.mode, t.run_id
