-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of forward and backward together against the length:
-- empty: No run of attention gave a figure to draw.
SELECT
  l.dtype || ', batch ' || l.batch || ', ' || l.heads
  || CASE l.heads WHEN 1 THEN ' head, width ' ELSE ' heads, width ' END || l.head_dim
  || CASE l.causal WHEN 1 THEN ', causal' ELSE ', full' END AS setting,
  l.implementation,
  l.seq,
  min(l.both_ms) AS both_ms
FROM selected_run s
JOIN attention_latency l ON l.run_id = s.run_id AND l.both_ms IS NOT NULL
GROUP BY l.dtype, l.batch, l.heads, l.head_dim, l.causal, l.implementation_order, l.implementation, l.seq
ORDER BY l.dtype, l.batch, l.heads, l.head_dim, l.causal DESC, l.implementation_order, l.implementation, l.seq
