-- SPDX-License-Identifier: Apache-2.0
-- Memory blocks for memory_area.sql: the blocks live in the measured steps (clipped to their start), limited to the
-- largest. minimum block size and number of blocks shown
WITH setting (least_bytes, blocks_shown) AS (VALUES (0, 100000)),
-- the measured steps,
largest AS (
  SELECT
    n.setting,
    a.run_id,
    a.pass,
    a.sequence,
    max(a.alloc_ns, n.start_ns) AS start_ns,
    CASE WHEN a.free_ns <= n.end_ns THEN a.free_ns END AS end_ns,
    row_number() OVER (PARTITION BY a.run_id ORDER BY a.allocated_bytes DESC, a.sequence) AS position
  FROM chosen n
  CROSS JOIN memory_block a ON a.run_id = n.run_id AND a.rank = 0 AND a.pass = 'memory' AND a.device = n.device_kind
  WHERE
    a.alloc_ns <= n.end_ns
    AND coalesce(a.free_ns >= n.start_ns, 1)
    AND a.allocated_bytes >= (SELECT least_bytes FROM setting)
),
-- and their call stacks
called AS MATERIALIZED (
  SELECT s.*
  FROM (SELECT DISTINCT
    run_id,
    pass
  FROM largest) l
  CROSS JOIN memory_stack s ON s.run_id = l.run_id AND s.rank = 0 AND s.pass = l.pass
)
SELECT
  l.setting,
  l.start_ns,
  l.end_ns,
  b.allocated_bytes AS bytes,
  coalesce(b.operator, replace(b.category, '_', ' ')) AS label,
  -- same names as the series of memory_area.sql, for the same colors
  g.title AS category,
  coalesce(b.scope || ' ', '') || '(' || b.phase || CASE WHEN b.step >= 0 THEN ', step ' || b.step ELSE '' END || ')'
  || coalesce(k.frames, '') AS detail,
  b.address,
  b.reusable_ns
FROM largest l
JOIN memory_block b ON b.run_id = l.run_id AND b.rank = 0 AND b.pass = l.pass AND b.sequence = l.sequence
JOIN memory_category g ON g.category = b.category
LEFT JOIN called k ON k.run_id = b.run_id AND k.rank = b.rank AND k.pass = b.pass AND k.stack = b.stack
WHERE l.position <= (SELECT blocks_shown FROM setting)
ORDER BY l.run_id, l.sequence
