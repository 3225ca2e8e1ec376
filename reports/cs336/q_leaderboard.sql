-- SPDX-License-Identifier: Apache-2.0
-- caption: Causal attention in bf16, 16 heads of 64, 16384 tokens.
-- column implementation: title="implementation"
-- column forward_ms: title="forward", unit="ms", format="significant", digits=4
-- column backward_ms: title="backward", unit="ms", format="significant", digits=4
-- column both_ms: title="both", unit="ms", format="significant", digits=4
-- column rate: title="rate", unit="TFLOP/s", format="significant", digits=3
-- note: Medians of kernels that are timed back to back; both is their sum. The leaderboard asks for a Triton kernel and
--   times forward and backward in one call (triton.testing.do_bench), which these numbers do not.
-- empty: Not in this database, and only a GPU can measure it: `kymo suite run cs336 --filter '^flash-filled'` adds this
--   data.
SELECT
  l.implementation,
  l.forward_ms,
  l.backward_ms,
  l.forward_backward_ms AS both_ms,
  3.5 * 2 * l.batch * l.heads * l.seq * l.seq * l.head_dim / l.forward_backward_ms / 1e9 AS rate
FROM selected_run s
JOIN attention_latency l
  ON l.run_id = s.run_id
  AND l.causal = 1
  AND l.dtype = 'bf16'
  AND l.heads = 16
  AND l.head_dim = 64
  AND l.seq = 16384
WHERE l.forward_backward_ms > 0
ORDER BY l.forward_backward_ms, l.run_id
