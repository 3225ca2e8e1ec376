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
-- number of kernels shown per run
WITH setting (rows_shown) AS (VALUES (3)),
named AS (
  SELECT
    s.run_id,
    e.name_id,
    e.short_name,
    e.class,
    1.0 * sum(e.calls) / max(e.steps) AS calls,
    sum(e.total_ns) / 1e3 / sum(e.calls) AS mean_us,
    sum(e.total_ns) / 1e6 / max(e.steps) AS total_ms
  FROM selected_run s
  CROSS JOIN kernel_entry e ON e.run_id = s.run_id AND e.rank = 0
  GROUP BY s.run_id, e.name_id
),
ranked AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY run_id ORDER BY total_ms DESC, name_id) AS position,
    sum(total_ms) OVER (PARTITION BY run_id) AS all_ms
  FROM named
)
SELECT
  r.workload,
  i.title,
  CASE
    WHEN length(k.short_name) > 64 THEN substr(k.short_name, 1, 63) || '…'
    ELSE k.short_name
  END AS kernel,
  k.class,
  CASE WHEN k.calls = CAST(k.calls AS INTEGER) THEN CAST(k.calls AS INTEGER) ELSE k.calls END AS calls,
  k.mean_us,
  k.total_ms,
  100 * k.total_ms / nullif(k.all_ms, 0) AS share
FROM ranked k
JOIN run r ON r.run_id = k.run_id
JOIN selected_run i ON i.run_id = r.run_id
WHERE k.position <= (SELECT rows_shown FROM setting)
ORDER BY r.run_id, k.position
