-- SPDX-License-Identifier: Apache-2.0
-- caption: Attention by implementation and sequence length.
-- column implementation: title="implementation"
-- column shape: title="batch × heads × head dim"
-- column dtype: title="dtype"
-- column mask: title="mask"
-- column seq: title="sequence length", unit="tokens", format="plain"
-- column timing: title="timing", format="code"
-- column forward_ms: title="forward", unit="ms", format="measured", plus_minus="forward_std_ms"
-- column backward_ms: title="backward", unit="ms", format="measured", plus_minus="backward_std_ms"
-- column before_backward_bytes: title="memory before backward", format="bytes"
-- note: Memory: allocated by LibTorch when backward begins, as reported by the run on a GPU, otherwise from the memory
--   pass.
-- empty: No attention runs.
SELECT
  a.implementation,
  a.batch || ' × ' || a.heads || ' × ' || a.head_dim AS shape,
  a.dtype,
  CASE a.causal WHEN 1 THEN 'causal' ELSE 'full' END AS mask,
  a.seq,
  a.timing,
  CASE WHEN g.status_label <> '' THEN g.status_label ELSE g.forward_ms END AS forward_ms,
  g.forward_std_ms,
  CASE WHEN g.status_label <> '' THEN g.status_label ELSE g.backward_ms END AS backward_ms,
  g.backward_std_ms,
  g.before_backward_bytes
FROM selected_run s
JOIN attention_run a ON a.run_id = s.run_id
JOIN attention_grid g ON g.run_id = s.run_id
ORDER BY
  a.dtype,
  a.causal DESC,
  a.batch,
  a.heads,
  a.head_dim,
  a.seq,
  a.implementation_order,
  a.implementation,
  s.run_id
