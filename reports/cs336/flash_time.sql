-- SPDX-License-Identifier: Apache-2.0
-- caption: Forward plus backward time by sequence length, one head:
-- empty: The cases `flash` of the suite `cs336` have no measurements.
SELECT
  l.dtype || ', head dim ' || l.head_dim || CASE l.causal WHEN 1 THEN ', causal' ELSE ', full' END AS setting,
  l.implementation AS series,
  l.seq,
  min(l.forward_backward_ms) AS forward_backward_ms
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite_case LIKE 'flash%'
JOIN attention_latency l
  ON l.run_id = r.run_id AND l.heads = 1 AND l.head_dim IN (64, 128) AND l.forward_backward_ms IS NOT NULL
GROUP BY l.dtype, l.causal, l.head_dim, l.batch, l.implementation_order, l.implementation, l.seq
ORDER BY l.dtype DESC, l.causal DESC, l.head_dim, l.implementation_order, l.implementation, l.seq
