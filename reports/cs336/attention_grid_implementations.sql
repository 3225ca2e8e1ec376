-- SPDX-License-Identifier: Apache-2.0
-- caption: The same shapes by implementation: forward plus backward time, and memory before backward.
-- pivot implementation: values=["total_ms", "before_backward_bytes"], order="implementation_order"
-- column shape: title="dtype, head dim"
-- column seq: title="sequence length", unit="tokens", format="plain"
-- column total_ms: unit="ms", format="significant", digits=4
-- column before_backward_bytes: title="{} memory", format="bytes"
-- note: Sum of the mean forward and backward times. – means: not measured. The runs were not interleaved, so that
--   clocks may have drifted between them; kymo ab compares two implementations in interleaved slices.
-- empty: No attention measurements by sequence length: `kymo suite run cs336 --filter '^attention-memory'` adds this
--   data.
SELECT
  a.dtype || ', ' || a.head_dim AS shape,
  a.seq,
  a.implementation,
  a.implementation_order,
  coalesce(min(g.forward_ms + g.backward_ms), max(nullif(g.status_label, ''))) AS total_ms,
  max(g.before_backward_bytes) AS before_backward_bytes
FROM selected_run s
JOIN run r
  ON r.run_id = s.run_id
  AND r.suite_case LIKE 'attention-memory%'
  AND r.suite_case <> 'attention-memory-blocks'
JOIN attention_run a ON a.run_id = r.run_id
JOIN attention_grid g ON g.run_id = r.run_id
GROUP BY a.dtype, a.head_dim, a.seq, a.implementation_order, a.implementation
ORDER BY a.dtype = 'bf16', a.dtype, a.head_dim, a.seq, a.implementation_order, a.implementation
