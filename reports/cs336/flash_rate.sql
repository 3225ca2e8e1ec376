-- SPDX-License-Identifier: Apache-2.0
-- caption: Rate by sequence length, for heads × head dim:
-- note: fp32 has no device peak: the peak of the CUDA cores does not limit kernels that compute it with TF32 on tensor
--   cores.
-- empty: The cases `flash` of the suite `cs336` have no measurements.
SELECT
  l.dtype,
  p.value
  || ', '
  || l.heads
  || ' × '
  || l.head_dim
  || CASE l.causal WHEN 1 THEN ', causal' ELSE ', full' END AS setting,
  l.implementation AS series,
  l.seq,
  max(CASE p.value WHEN 'forward' THEN l.forward_tflop_per_s ELSE l.backward_tflop_per_s END) AS rate,
  max(CASE WHEN l.dtype <> 'fp32' THEN l.peak_tflop_per_s END) AS peak
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite_case LIKE 'flash%'
JOIN attention_latency l ON l.run_id = r.run_id AND l.head_dim IN (64, 128)
JOIN json_each('["forward", "backward"]') p
GROUP BY p.value, l.dtype, l.causal, l.head_dim, l.batch, l.heads, l.implementation_order, l.implementation, l.seq
HAVING rate IS NOT NULL
ORDER BY p.value DESC, l.dtype DESC, l.causal DESC, l.heads, l.head_dim, l.implementation_order, l.implementation, l.seq
