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
WITH chosen AS (
  SELECT
    r.run_id,
    r.device_kind,
    m.size || ', context ' || m.context || ', ' || m.precision AS setting
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite_case = 'memory' AND r.status = 'ok'
  JOIN transformer_run m ON m.run_id = r.run_id
  WHERE EXISTS (SELECT 1 FROM memory_block a WHERE a.run_id = r.run_id AND a.rank = 0 AND a.pass = 'memory')
  ORDER BY m.mode = 'forward' DESC, m.precision = 'fp32' DESC, m.size_order DESC, m.context DESC, r.run_id DESC
  LIMIT 1
),
ranked AS (
  SELECT
    c.setting,
    b.*,
    row_number() OVER (ORDER BY b.allocated_bytes DESC, b.sequence) AS position,
    count(*) OVER () AS blocks
  FROM chosen c
  JOIN memory_block b ON b.run_id = c.run_id AND b.rank = 0 AND b.pass = 'memory' AND b.device = c.device_kind
  WHERE b.phase = 'forward' AND b.step = (
    SELECT max(l.step)
    FROM memory_block l
    WHERE l.run_id = c.run_id AND l.rank = 0 AND l.pass = 'memory' AND l.phase = 'forward'
  )
)
SELECT
  setting,
  allocated_bytes AS block_bytes,
  count(*) AS blocks,
  sum(allocated_bytes) AS total_bytes,
  module,
  operator,
  origin
FROM ranked
WHERE position <= max(1, (blocks + 9) / 10)
GROUP BY allocated_bytes, module, operator, origin
ORDER BY allocated_bytes DESC, total_bytes DESC, module, operator
LIMIT 12
