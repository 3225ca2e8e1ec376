-- SPDX-License-Identifier: Apache-2.0
-- caption: Unfused attention in PyTorch, eager and compiled.
-- column dtype: title="dtype"
-- column head_dim: title="head dim", format="plain"
-- column seq: title="sequence length", unit="tokens", format="plain"
-- column mode: title="compile", format="code"
-- column forward_ms: title="forward", unit="ms", format="measured", plus_minus="forward_std_ms"
-- column backward_ms: title="backward", unit="ms", format="measured", plus_minus="backward_std_ms"
-- column speedup: title="speedup over eager", format="significant", digits=3
-- column before_backward_bytes: title="memory before backward", format="bytes"
-- column compile_s: title="compile time", unit="s", format="significant", digits=3
-- column breaks: title="graph breaks"
-- column recompilations: title="recompilations"
-- note: Speedup: eager forward plus backward time over that of the row. Compile time: the first calls, beyond the time
--   of later ones.
-- empty: No compiled attention: `kymo suite run cs336 --filter '^compiled-attention'` adds this data.
WITH shown AS (
  SELECT
    r.run_id,
    a.dtype,
    a.head_dim,
    a.seq,
    p.value AS mode,
    p.choice AS mode_order,
    g.status_label,
    g.forward_ms,
    g.forward_std_ms,
    g.backward_ms,
    g.backward_std_ms,
    g.before_backward_bytes,
    min(CASE WHEN p.choice = 0 THEN g.forward_ms + g.backward_ms END) OVER (
      PARTITION BY a.device_id, a.batch, a.heads, a.causal, a.dtype, a.head_dim, a.seq
    ) AS eager_ms
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite_case LIKE 'compiled-attention%'
  JOIN attention_run a ON a.run_id = r.run_id AND a.mode = 'forward_backward'
  JOIN attention_grid g ON g.run_id = r.run_id
  JOIN run_parameter p ON p.run_id = r.run_id AND p.name = 'compile'
)
SELECT
  h.dtype,
  h.head_dim,
  h.seq,
  h.mode,
  CASE WHEN h.status_label <> '' THEN h.status_label ELSE h.forward_ms END AS forward_ms,
  h.forward_std_ms,
  CASE WHEN h.status_label <> '' THEN h.status_label ELSE h.backward_ms END AS backward_ms,
  h.backward_std_ms,
  CASE WHEN h.mode_order > 0 THEN h.eager_ms / (h.forward_ms + h.backward_ms) END AS speedup,
  h.before_backward_bytes,
  max(CASE m.name WHEN 'compile_s' THEN m.value END) AS compile_s,
  CAST(max(CASE m.name WHEN 'graph_breaks' THEN m.value END) AS INTEGER) AS breaks,
  CAST(max(CASE m.name WHEN 'recompilations' THEN m.value END) AS INTEGER) AS recompilations
FROM shown h
LEFT JOIN reported_metric m ON m.run_id = h.run_id AND m.level = 'run' AND m.pass = 'time'
GROUP BY h.run_id
ORDER BY h.dtype = 'bf16', h.dtype, h.head_dim, h.seq, h.mode_order, h.run_id
