-- SPDX-License-Identifier: Apache-2.0
-- caption: Operators by host self time per step, for the newest run of each workload with operator records.
-- column workload: title="workload", format="code"
-- column title: title="run"
-- column operator: title="operator", format="code"
-- column calls: title="calls"
-- column self_ms: title="self time", unit="ms", format="significant", digits=3
-- column self_share: title="share", unit="%", digits=1
-- column host_ms: title="total time", unit="ms", format="significant", digits=3
-- column device_ms: title="kernel time", unit="ms", format="significant", digits=3
-- note: "(backward)" marks nodes of the backward pass. Kernel time includes only kernels that the operator launched
--   directly; there is none on a CPU.
-- empty: No operator records: add `--passes time,ops` to the command. Available for workloads that use LibTorch.
-- number of rows shown per workload
WITH setting (rows_shown) AS (VALUES (10)),
ranked AS (
  SELECT
    r.workload,
    o.*,
    row_number() OVER (PARTITION BY o.run_id ORDER BY o.self_ms DESC, o.name) AS position,
    max(o.run_id) OVER (PARTITION BY r.workload) AS newest_run_id
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  JOIN op_summary o ON o.run_id = r.run_id AND o.rank = 0 AND o.phase = 'step'
)
SELECT
  k.workload,
  i.title,
  k.name || CASE k.backward WHEN 1 THEN ' (backward)' ELSE '' END AS operator,
  CASE WHEN k.calls = CAST(k.calls AS INTEGER) THEN CAST(k.calls AS INTEGER) ELSE k.calls END AS calls,
  k.self_ms,
  100 * k.self_share AS self_share,
  k.host_ms,
  CASE WHEN k.kernels > 0 THEN k.device_ms END AS device_ms
FROM ranked k
JOIN selected_run i ON i.run_id = k.run_id
WHERE k.run_id = k.newest_run_id AND k.position <= (SELECT rows_shown FROM setting)
ORDER BY k.run_id, k.position
