-- SPDX-License-Identifier: Apache-2.0
-- caption: Unfused attention by width and length: the forward pass, what is in memory when backward begins, and the
--   backward pass.
-- column dtype: title="type"
-- column head_dim: title="d", format="plain"
-- column seq: title="length", unit="tokens", format="plain"
-- column forward_ms: title="forward", unit="ms", format="measured", plus_minus="forward_std_ms"
-- column before_backward_bytes: title="memory before backward", format="bytes"
-- column backward_ms: title="backward", unit="ms", format="measured", plus_minus="backward_std_ms"
-- column asked: title="asked for", format="bytes"
-- column free: title="free then", format="bytes"
-- note: Memory is what LibTorch's allocator has handed out, the workspace of cuBLAS included. The last two columns are
--   of the request that failed; a run that failed has no times, as not all of its steps were made.
-- empty: Attention was not measured by length: `kymo suite run cs336 --filter '^attention-memory'` fills this section.
SELECT
  a.dtype,
  a.head_dim,
  a.seq,
  CASE WHEN g.state <> '' THEN g.state ELSE g.forward_ms END AS forward_ms,
  g.forward_std_ms,
  g.before_backward_bytes,
  CASE WHEN g.state <> '' THEN g.state ELSE g.backward_ms END AS backward_ms,
  g.backward_std_ms,
  g.requested_bytes AS asked,
  g.free_bytes AS free
FROM selected_run s
JOIN run r
  ON r.run_id = s.run_id
  AND r.suite = 'cs336'
  AND r.suite_case LIKE 'attention-memory%'
  AND r.suite_case <> 'attention-memory-blocks'
JOIN attention_run a ON a.run_id = r.run_id AND a.implementation = 'naive'
JOIN attention_grid g ON g.run_id = r.run_id
ORDER BY a.dtype = 'bf16', a.dtype, a.head_dim, a.seq, r.run_id
