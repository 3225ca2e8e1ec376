-- SPDX-License-Identifier: Apache-2.0
-- caption: What the blocks save for the backward pass, by operation; the five largest.
-- column operator: title="operation", format="code"
-- column module: title="module", format="code"
-- column tensors: title="tensors of a block", format="significant", digits=3
-- column bytes: title="memory of a block", format="bytes"
-- column share: title="share", format="percent"
-- note: Memory that tensors share is counted once, at the first operation that keeps it. Mean over the blocks.
-- empty: Not in this database: `kymo suite run cs336 --filter '^(memory|checkpoint)'` adds this data.
SELECT
  o.operator,
  o.module,
  1.0 * sum(o.tensors) / b.instances AS tensors,
  1.0 * sum(o.bytes) / b.instances AS bytes,
  1.0 * sum(o.bytes) / b.bytes AS share
FROM saved_run c
JOIN saved_by_module b
  ON b.run_id = c.run_id AND b.rank = 0 AND b.pass = 'memory' AND b.nested = 0 AND b.module LIKE 'block%'
  AND b.module NOT LIKE '%/%'
JOIN saved_by_operator o
  ON o.run_id = c.run_id AND o.rank = 0 AND o.pass = b.pass AND o.nested = 0 AND o.memory = 'activation'
WHERE o.module = b.module OR o.module LIKE b.module || '/%'
GROUP BY o.operator, o.module
ORDER BY sum(o.bytes) DESC, o.operator, o.module
LIMIT 5
