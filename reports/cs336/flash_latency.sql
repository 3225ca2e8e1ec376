-- SPDX-License-Identifier: Apache-2.0
-- caption: Latency of `flash`, and speedup over the other implementations for forward plus backward.
-- column dtype: title="dtype"
-- column mask: title="mask"
-- column head_dim: title="head dim", format="plain"
-- column heads: title="heads"
-- column seq: title="sequence length", unit="tokens", format="plain"
-- column forward_ms: title="forward", unit="ms", format="significant", digits=4
-- column backward_ms: title="backward", unit="ms", format="significant", digits=4
-- column forward_backward_ms: title="forward + backward", unit="ms", format="significant", digits=4
-- column naive_ratio: title="speedup over naive", format="significant", digits=3
-- column library_ratio: title="speedup over library", format="significant", digits=3
-- column library: title="fastest library backend"
-- column fills: title="fills the GPU"
-- note: Medians. Forward and backward are timed separately, back to back without synchronization, and summed.
-- note: A shape fills the GPU if it has at least one block of 128 queries per SM.
-- empty: No attention kernels measured: `kymo suite run cs336 --filter '^flash'` adds this data.
WITH shown AS (
  SELECT
    l.*,
    l.implementation LIKE 'LibTorch %' AS library
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336' AND r.suite_case LIKE 'flash%'
  JOIN attention_latency l ON l.run_id = r.run_id AND l.forward_backward_ms > 0
),
best AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY dtype, causal, head_dim, batch, heads, seq
      ORDER BY forward_backward_ms, implementation
    ) AS position
  FROM shown
  WHERE library
),
naive AS (
  SELECT
    dtype,
    causal,
    head_dim,
    batch,
    heads,
    seq,
    min(forward_backward_ms) AS forward_backward_ms
  FROM shown
  WHERE implementation = 'naive'
  GROUP BY 1, 2, 3, 4, 5, 6
)
SELECT
  o.dtype,
  CASE o.causal WHEN 1 THEN 'causal' ELSE 'full' END AS mask,
  o.head_dim,
  o.heads,
  o.seq,
  o.forward_ms,
  o.backward_ms,
  o.forward_backward_ms,
  n.forward_backward_ms / o.forward_backward_ms AS naive_ratio,
  b.forward_backward_ms / o.forward_backward_ms AS library_ratio,
  b.implementation AS library,
  CASE o.fills_device WHEN 1 THEN 'yes' WHEN 0 THEN 'no' END AS fills
FROM shown o
LEFT JOIN naive n
  ON n.dtype = o.dtype
  AND n.causal = o.causal
  AND n.head_dim = o.head_dim
  AND n.batch = o.batch
  AND n.heads = o.heads
  AND n.seq = o.seq
LEFT JOIN best b
  ON b.dtype = o.dtype
  AND b.causal = o.causal
  AND b.head_dim = o.head_dim
  AND b.batch = o.batch
  AND b.heads = o.heads
  AND b.seq = o.seq
  AND b.position = 1
WHERE
  o.implementation = 'flash'
  OR o.implementation = 'tiled' AND NOT EXISTS (SELECT 1 FROM shown x WHERE x.implementation = 'flash')
ORDER BY o.dtype DESC, o.causal DESC, o.heads, o.head_dim, o.seq, o.run_id
