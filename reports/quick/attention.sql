-- SPDX-License-Identifier: Apache-2.0
-- caption: Attention by implementation and length.
-- column implementation: title="implementation", format="code"
-- column shape: title="batch × heads × d"
-- column dtype: title="type"
-- column mask: title="mask"
-- column seq: title="length", unit="tokens", format="plain"
-- column timing: title="timed", format="code"
-- column forward_ms: title="forward", unit="ms", format="measured", plus_minus="forward_std_ms"
-- column backward_ms: title="backward", unit="ms", format="measured", plus_minus="backward_std_ms"
-- column before_backward_bytes: title="memory before backward", format="bytes"
-- note: Memory is what LibTorch's allocator has handed out when backward begins: of a GPU as the run reports it, else
--   of the memory pass.
-- empty: No run of attention by itself is among these.
SELECT
  a.implementation,
  a.batch || ' × ' || a.heads || ' × ' || a.head_dim AS shape,
  a.dtype,
  CASE a.causal WHEN 1 THEN 'causal' ELSE 'full' END AS mask,
  a.seq,
  a.timing,
  CASE WHEN g.state <> '' THEN g.state ELSE g.forward_ms END AS forward_ms,
  g.forward_std_ms,
  CASE WHEN g.state <> '' THEN g.state ELSE g.backward_ms END AS backward_ms,
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
