-- SPDX-License-Identifier: Apache-2.0
-- caption: The largest tenth of the allocations of a forward pass.
-- column setting: title="case", once=true
-- column block_bytes: title="size", format="bytes"
-- column blocks: title="blocks", format="plain"
-- column total_bytes: title="total", format="bytes"
-- column module: title="module", format="code"
-- column operator: title="operator", format="code"
-- column origin: title="stack: innermost frame of the workload", format="code"
-- note: Blocks that a measured forward pass without gradients allocated, grouped by size and origin. The tenth is by
--   number of blocks, as the detail setting of the PyTorch memory viewer counts.
-- empty: Not in this database: `kymo suite run cs336 --filter '^memory'` adds this data.
-- The columns that tell where a block comes from are read for the largest blocks alone.
WITH ranked AS (
  SELECT
    b.sequence,
    row_number() OVER (ORDER BY b.allocated_bytes DESC, b.sequence) AS position,
    count(*) OVER () AS blocks
  FROM chosen c
  JOIN memory_block b ON b.run_id = c.run_id AND b.rank = 0 AND b.pass = 'memory' AND b.device = c.device_kind
  WHERE b.phase = 'forward' AND b.step = c.step
)
SELECT
  c.setting,
  b.allocated_bytes AS block_bytes,
  count(*) AS blocks,
  sum(b.allocated_bytes) AS total_bytes,
  b.module,
  b.operator,
  b.origin
FROM ranked k
JOIN chosen c
JOIN memory_block b
  ON b.run_id = c.run_id
  AND b.rank = 0
  AND b.pass = 'memory'
  AND b.device = c.device_kind
  AND b.sequence = k.sequence
WHERE k.position <= max(1, (k.blocks + 9) / 10)
GROUP BY b.allocated_bytes, b.module, b.operator, b.origin
ORDER BY b.allocated_bytes DESC, total_bytes DESC, b.module, b.operator
LIMIT 12
