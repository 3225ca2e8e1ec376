-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory contents at the failed allocation, for the smallest case that ran out of memory.
-- column what: title="contents"
-- column operator: title="operator", format="code"
-- column phase: title="phase", format="code"
-- column blocks: title="blocks"
-- column bytes: title="block size", format="bytes"
-- column total: title="total", format="bytes"
-- column matrices: title="in score matrices", format="significant", digits=3
-- note: Blocks live after the last successful allocation. Contents are inferred from the block size and the requesting
--   operator.
-- note: On a GPU, total, reserved and not allocated, CUDA context and other, and free memory add up to the device
--   memory. Reserved and not allocated: memory of the caching allocator in which no block is long enough
--   (fragmentation).
-- empty: No memory pass ran out of memory; `kymo suite run cs336 --filter attention-memory-blocks` tests larger cases.
WITH smallest AS (
  SELECT
    r.run_id,
    a.score_matrix_bytes AS matrix,
    a.score_matrix_bytes / (a.batch * a.heads) AS mask,
    a.tensor_bytes AS tensor,
    o.requested_bytes,
    o.free_bytes,
    o.location,
    o.rank,
    d.memory_bytes,
    coalesce(k.reserved_peak_bytes, p.peak_reserved_bytes) AS reserved
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite_case = 'attention-memory-blocks'
  JOIN attention_run a ON a.run_id = r.run_id
  JOIN oom o ON o.run_id = r.run_id AND o.pass = 'memory'
  LEFT JOIN rank k ON k.run_id = r.run_id AND k.rank = o.rank AND k.pass = 'memory'
  LEFT JOIN device d ON d.device_id = k.device_id
  LEFT JOIN memory_peak p ON p.run_id = r.run_id AND p.rank = o.rank AND p.phase = 'run' AND p.device = 'cuda'
  ORDER BY a.score_matrix_bytes, a.head_dim, r.run_id DESC
  LIMIT 1
),
block AS (
  SELECT
    CASE
      WHEN b.requested_bytes = m.matrix AND b.operator LIKE '%softmax_backward%' THEN 'gradient of the scores'
      WHEN b.requested_bytes = m.matrix AND b.operator LIKE '%softmax%' THEN 'softmax weights'
      WHEN b.requested_bytes = m.matrix AND b.operator LIKE '%bmm%' AND b.phase = 'backward'
        THEN 'gradient of the softmax weights'
      WHEN b.requested_bytes = m.matrix AND b.operator LIKE '%bmm%' THEN 'scores'
      WHEN b.requested_bytes = m.matrix THEN 'score matrix'
      WHEN b.requested_bytes = m.mask THEN 'mask'
      WHEN b.requested_bytes = m.tensor AND b.category = 'input' THEN 'query, key, value or output gradient'
      WHEN b.requested_bytes = m.tensor THEN 'same size as query'
      ELSE 'other'
    END AS what,
    coalesce(b.operator, '') AS operator,
    b.phase,
    b.allocated_bytes,
    m.matrix
  FROM smallest m
  JOIN oom_block b ON b.run_id = m.run_id AND b.rank = m.rank
),
line AS (
  SELECT
    0 AS part,
    what,
    operator,
    phase,
    count(*) AS blocks,
    CASE WHEN min(allocated_bytes) = max(allocated_bytes) THEN min(allocated_bytes) END AS bytes,
    sum(allocated_bytes) AS total,
    max(matrix) AS matrix
  FROM block
  GROUP BY what, operator, phase
  UNION ALL
  SELECT
    1,
    'total',
    NULL,
    NULL,
    count(*),
    NULL,
    sum(allocated_bytes),
    max(matrix)
  FROM block
  UNION ALL
  SELECT
    2,
    'reserved and not allocated',
    NULL,
    NULL,
    NULL,
    NULL,
    nullif(max(0, m.reserved - (SELECT sum(b.allocated_bytes) FROM block b)), 0),
    m.matrix
  FROM smallest m
  UNION ALL
  SELECT
    3,
    'CUDA context and other',
    NULL,
    NULL,
    NULL,
    NULL,
    nullif(max(0, m.memory_bytes - m.free_bytes - m.reserved), 0),
    m.matrix
  FROM smallest m
  UNION ALL
  SELECT
    6,
    'failed request',
    NULL,
    (SELECT nullif(r.failed_phase, '') FROM run r WHERE r.run_id = m.run_id),
    NULL,
    NULL,
    m.requested_bytes,
    m.matrix
  FROM smallest m
  UNION ALL
  SELECT
    4,
    'free memory',
    NULL,
    NULL,
    NULL,
    NULL,
    m.free_bytes,
    m.matrix
  FROM smallest m
  UNION ALL
  SELECT
    5,
    CASE m.location WHEN 'device' THEN 'device' ELSE 'host' END || ' memory',
    NULL,
    NULL,
    NULL,
    NULL,
    m.memory_bytes,
    m.matrix
  FROM smallest m
)
SELECT
  what,
  operator,
  phase,
  blocks,
  bytes,
  total,
  1.0 * total / matrix AS matrices
FROM line
WHERE total IS NOT NULL
ORDER BY part, total DESC, what, operator, phase
