-- SPDX-License-Identifier: Apache-2.0
-- caption: Forward and backward time by sequence length:
-- empty: No attention runs with forward and backward times.
SELECT
  l.dtype || ', batch ' || l.batch || ', ' || l.heads
  || CASE l.heads WHEN 1 THEN ' head, head dim ' ELSE ' heads, head dim ' END || l.head_dim
  || CASE l.causal WHEN 1 THEN ', causal' ELSE ', full' END AS setting,
  l.implementation,
  l.seq,
  min(l.forward_backward_ms) AS forward_backward_ms
FROM selected_run s
JOIN attention_latency l ON l.run_id = s.run_id AND l.forward_backward_ms IS NOT NULL
GROUP BY l.dtype, l.batch, l.heads, l.head_dim, l.causal, l.implementation_order, l.implementation, l.seq
ORDER BY l.dtype, l.batch, l.heads, l.head_dim, l.causal DESC, l.implementation_order, l.implementation, l.seq
