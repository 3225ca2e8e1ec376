-- SPDX-License-Identifier: Apache-2.0
-- caption: CPU time per step by module, for the newest profiled run of each workload.
-- column workload: title="workload", format="code"
-- column title: title="run"
-- column phase: title="phase", format="code"
-- column module: title="module", format="code"
-- column calls: title="calls"
-- column total_ms: title="time", unit="ms", format="significant", digits=3
-- column self_ms: title="self time", unit="ms", format="significant", digits=3
-- note: Modules with the same name in repeated blocks are combined. LibTorch runs the backward pass outside of the
--   workload's scopes.
-- empty: No CPU scope records: add `--passes time,trace` to the command.
-- number of rows shown per workload
WITH setting (rows_shown) AS (VALUES (12)),
timed AS (
  SELECT
    r.workload,
    c.*
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.device_kind = 'cpu'
  JOIN cpu_scope_time c ON c.run_id = r.run_id AND c.rank = 0
),
ranked AS (
  SELECT
    t.*,
    row_number() OVER (PARTITION BY t.run_id ORDER BY t.self_ms DESC, t.phase, t.module) AS position
  FROM timed t
  WHERE t.run_id = (SELECT max(x.run_id) FROM timed x WHERE x.workload = t.workload)
)
SELECT
  k.workload,
  i.title,
  k.phase,
  k.module,
  CASE WHEN k.calls = CAST(k.calls AS INTEGER) THEN CAST(k.calls AS INTEGER) ELSE k.calls END AS calls,
  k.total_ms,
  k.self_ms
FROM ranked k
JOIN selected_run i ON i.run_id = k.run_id
WHERE k.position <= (SELECT rows_shown FROM setting)
ORDER BY k.run_id, k.position
