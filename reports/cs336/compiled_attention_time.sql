-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of forward plus backward of unfused attention, eager and compiled.
-- empty: No compiled attention: `kymo suite run cs336 --filter '^compiled-attention'` adds this data.
SELECT
  a.dtype || ', head dim ' || a.head_dim AS setting,
  p.value AS mode,
  a.seq,
  min(g.forward_ms + g.backward_ms) AS total_ms
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite_case LIKE 'compiled-attention%'
JOIN attention_run a ON a.run_id = r.run_id AND a.mode = 'forward_backward'
JOIN attention_grid g ON g.run_id = r.run_id AND g.forward_ms + g.backward_ms > 0
JOIN run_parameter p ON p.run_id = r.run_id AND p.name = 'compile'
GROUP BY a.dtype, a.head_dim, p.choice, p.value, a.seq
ORDER BY a.dtype = 'bf16', a.dtype, a.head_dim, p.choice, a.seq
