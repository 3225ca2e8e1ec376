-- SPDX-License-Identifier: Apache-2.0
-- caption: Attention in the forward pass: time and floating-point operations per step, over all layers.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column scores_ms: title="scores", unit="ms", format="significant", digits=3
-- column softmax_ms: title="softmax", unit="ms", format="significant", digits=3
-- column values_ms: title="values", unit="ms", format="significant", digits=3
-- column other_ms: title="scaling and masking", unit="ms", format="significant", digits=3, optional=true
-- column softmax_time_share: title="softmax time share", unit="%", digits=1
-- column softmax_flops_share: title="softmax operations share", unit="%", digits=2
-- column product_gflop_per_s: title="matmul rate", unit="GFLOP/s", format="significant", digits=3
-- column softmax_gflop_per_s: title="softmax rate", unit="GFLOP/s", format="significant", digits=3
-- column clock: title="clock"
-- note: Scores: query-key products including scaling and masking, which have a column of their own on a GPU. Values:
--   softmax weights times values. Shares are relative to the sum of scores, softmax and values. The rate of the matmuls
--   is that of the matmul kernels on a GPU.
-- note: Operations are counted by the workload: two per multiply-add of the matmuls, five per score in the softmax,
--   none for scaling and masking.
-- empty: No attention breakdown: `kymo suite run cs336 --filter kernels` adds this data.
SELECT
  e.size,
  e.context,
  max(CASE b.part WHEN 'scores' THEN b.total_ms END) AS scores_ms,
  max(CASE b.part WHEN 'softmax' THEN b.total_ms END) AS softmax_ms,
  max(CASE b.part WHEN 'values' THEN b.total_ms END) AS values_ms,
  sum(CASE WHEN b.part <> 'softmax' THEN b.total_ms - b.matmul_ms END) AS other_ms,
  100 * max(CASE b.part WHEN 'softmax' THEN b.time_share END) AS softmax_time_share,
  100 * max(CASE b.part WHEN 'softmax' THEN b.flops_share END) AS softmax_flops_share,
  sum(CASE WHEN b.part <> 'softmax' THEN b.flops END)
  / nullif(sum(CASE WHEN b.part <> 'softmax' THEN coalesce(b.matmul_ms, b.total_ms) END) / 1e3, 0)
  / 1e9 AS product_gflop_per_s,
  max(CASE b.part WHEN 'softmax' THEN b.flops_per_s END) / 1e9 AS softmax_gflop_per_s,
  b.clock
FROM seen e
JOIN attention_breakdown b ON b.run_id = e.run_id AND b.rank = 0
GROUP BY e.run_id
ORDER BY e.size_order, e.size, e.context, e.precision
