-- SPDX-License-Identifier: Apache-2.0
-- caption: Attention in PyTorch, eager and compiled.
-- pivot mode: values=["forward_ms", "backward_ms"], order="mode_order"
-- column dtype: title="dtype"
-- column head_dim: title="head dim", format="plain"
-- column seq: title="sequence length", unit="tokens", format="plain"
-- column forward_ms: title="forward, {}", unit="ms", format="significant", digits=3
-- column backward_ms: title="backward, {}", unit="ms", format="significant", digits=3
-- column speedup: title="speedup", format="significant", digits=3
-- note: Means. Speedup: eager over compiled forward plus backward. Compiled with the default mode.
-- empty: Not in this database: `kymo suite run cs336 --filter '^compiled-attention'` adds this data.
WITH shown AS (
  SELECT
    a.dtype,
    a.head_dim,
    a.seq,
    CASE p.choice WHEN 0 THEN 'eager' ELSE 'compiled' END AS mode,
    p.choice > 0 AS mode_order,
    max(CASE WHEN g.status_label <> '' THEN g.status_label ELSE g.forward_ms END) AS forward_ms,
    max(CASE WHEN g.status_label <> '' THEN g.status_label ELSE g.backward_ms END) AS backward_ms
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite_case IN ('compiled-attention', 'compiled-attention-bf16')
  JOIN attention_run a ON a.run_id = r.run_id AND a.mode = 'forward_backward'
  JOIN attention_grid g ON g.run_id = r.run_id
  JOIN run_parameter p ON p.run_id = r.run_id AND p.name = 'compile'
  WHERE p.value IN ('none', 'default')
  GROUP BY a.dtype, a.head_dim, a.seq, p.choice
)
SELECT
  dtype,
  head_dim,
  seq,
  mode,
  mode_order,
  forward_ms,
  backward_ms,
  sum(CASE WHEN mode_order = 0 AND typeof(forward_ms) <> 'text' THEN forward_ms + backward_ms END) OVER shape
  / sum(CASE WHEN mode_order = 1 AND typeof(forward_ms) <> 'text' THEN forward_ms + backward_ms END) OVER shape
    AS speedup
FROM shown
WINDOW shape AS (PARTITION BY dtype, head_dim, seq)
ORDER BY dtype DESC, head_dim, seq, mode_order
