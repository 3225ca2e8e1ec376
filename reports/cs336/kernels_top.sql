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
WITH traced AS (
  SELECT
    r.run_id,
    m.size,
    m.size_order,
    m.context,
    m.precision,
    m.mode
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite_case = 'kernels' AND r.device_kind = 'cuda'
  JOIN transformer_run m ON m.run_id = r.run_id
),
named AS (
  SELECT
    t.run_id,
    e.name_id,
    e.short_name,
    e.class,
    1.0 * sum(e.calls) / max(e.steps) AS calls,
    sum(e.total_ns) / 1e3 / sum(e.calls) AS mean_us,
    sum(e.total_ns) / 1e6 / max(e.steps) AS total_ms
  FROM traced t
  CROSS JOIN kernel_entry e ON e.run_id = t.run_id AND e.rank = 0
  GROUP BY t.run_id, e.name_id
),
ranked AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY run_id ORDER BY total_ms DESC, name_id) AS position,
    sum(total_ms) OVER (PARTITION BY run_id) AS all_ms
  FROM named
)
SELECT
  t.size,
  t.context,
  t.mode,
  CASE
    WHEN k.run_id IS NULL THEN CASE d.status_label WHEN '' THEN 'not recorded' ELSE d.status_label END
    WHEN length(k.short_name) > 64 THEN substr(k.short_name, 1, 63) || '…'
    ELSE k.short_name
  END AS kernel,
  k.class,
  CASE WHEN k.calls = CAST(k.calls AS INTEGER) THEN CAST(k.calls AS INTEGER) ELSE k.calls END AS calls,
  k.mean_us,
  k.total_ms,
  100.0 * k.total_ms / nullif(k.all_ms, 0) AS share
FROM traced t
JOIN run_status d ON d.run_id = t.run_id
LEFT JOIN ranked k ON k.run_id = t.run_id AND k.position = 1
ORDER BY t.size_order, t.size, t.context, t.precision, t.mode, t.run_id
