-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory before backward by sequence length:
-- empty: The cases `attention-memory` of the suite `cs336` have no measurements.
SELECT
  a.dtype || ', head dim ' || a.head_dim AS setting,
  a.implementation AS series,
  a.seq,
  max(g.before_backward_bytes) / 1048576.0 AS mib
FROM selected_run s
JOIN run r
  ON r.run_id = s.run_id
  AND r.suite_case LIKE 'attention-memory%'
  AND r.suite_case <> 'attention-memory-blocks'
JOIN attention_run a ON a.run_id = r.run_id AND a.head_dim = 64
JOIN attention_grid g ON g.run_id = r.run_id AND g.before_backward_bytes IS NOT NULL
GROUP BY a.dtype, a.head_dim, a.implementation_order, a.implementation, a.seq
ORDER BY a.dtype = 'bf16', a.dtype, a.implementation_order, a.implementation, a.seq
