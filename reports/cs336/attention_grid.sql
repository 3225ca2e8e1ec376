-- SPDX-License-Identifier: Apache-2.0
-- caption: Unfused attention by head dimension and sequence length: forward time, memory before backward, and backward
--   time.
-- column dtype: title="dtype"
-- column head_dim: title="head dim", format="plain"
-- column seq: title="sequence length", unit="tokens", format="plain"
-- column forward_ms: title="forward", unit="ms", format="measured", plus_minus="forward_std_ms"
-- column before_backward_bytes: title="memory before backward", format="bytes"
-- column backward_ms: title="backward", unit="ms", format="measured", plus_minus="backward_std_ms"
-- column requested_bytes: title="failed request", format="bytes"
-- column free_bytes: title="free memory", format="bytes"
-- note: Memory: allocated by LibTorch, including the cuBLAS workspace. The last two columns refer to the failed
--   allocation. Failed runs have no times because not all steps completed.
-- empty: No attention measurements by sequence length: `kymo suite run cs336 --filter '^attention-memory'` adds this
--   data.
SELECT
  a.dtype,
  a.head_dim,
  a.seq,
  CASE WHEN g.status_label <> '' THEN g.status_label ELSE g.forward_ms END AS forward_ms,
  g.forward_std_ms,
  g.before_backward_bytes,
  CASE WHEN g.status_label <> '' THEN g.status_label ELSE g.backward_ms END AS backward_ms,
  g.backward_std_ms,
  g.requested_bytes,
  g.free_bytes
FROM selected_run s
JOIN run r
  ON r.run_id = s.run_id
  AND r.suite_case LIKE 'attention-memory%'
  AND r.suite_case <> 'attention-memory-blocks'
JOIN attention_run a ON a.run_id = r.run_id AND a.implementation_order = 0
JOIN attention_grid g ON g.run_id = r.run_id
ORDER BY a.dtype = 'bf16', a.dtype, a.head_dim, a.seq, r.run_id
