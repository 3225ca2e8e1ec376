-- SPDX-License-Identifier: Apache-2.0
-- caption: Attention in PyTorch, eager and compiled.
-- pivot mode: values=["forward_ms", "backward_ms"], order="mode_order"
-- column dtype: title="dtype"
-- column head_dim: title="head dim", format="plain"
-- column seq: title="sequence length", unit="tokens", format="plain"
-- column forward_ms: title="forward, {}", unit="ms", format="measured", plus_minus="forward_std_ms"
-- column backward_ms: title="backward, {}", unit="ms", format="measured", plus_minus="backward_std_ms"
-- column speedup: title="speedup", format="significant", digits=3
-- note: Means ± standard deviation of the steps. Speedup: eager over compiled forward plus backward.
--   Compiled with the default mode.
-- empty: Not in this database: `kymo suite run cs336 --filter '^compiled-attention'` adds this data.
SELECT
  p.dtype,
  p.head_dim,
  p.seq,
  CASE m.value WHEN 0 THEN 'eager' ELSE 'compiled' END AS mode,
  m.value AS mode_order,
  CASE WHEN g.status_label <> '' THEN g.status_label ELSE g.forward_ms END AS forward_ms,
  g.forward_std_ms,
  CASE WHEN g.status_label <> '' THEN g.status_label ELSE g.backward_ms END AS backward_ms,
  g.backward_std_ms,
  p.speedup
FROM pair p
JOIN json_each('[0, 1]') m
JOIN attention_grid g ON g.run_id = CASE m.value WHEN 0 THEN p.eager_run_id ELSE p.compiled_run_id END
ORDER BY p.dtype DESC, p.head_dim, p.seq, p.eager_run_id, m.value
