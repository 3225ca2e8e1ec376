-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory by category over the measured steps:
-- empty: No memory records: add `--passes time,memory` to the command.
-- column time_ns: title="time"
-- column bytes: format="bytes"
-- The allocated size of live blocks, from every allocation and free in the measured steps of the chosen runs.
WITH block AS (
  SELECT
    n.setting,
    a.run_id,
    a.pass,
    a.category,
    a.allocated_bytes,
    max(a.alloc_ns, n.start_ns) AS alloc_ns,
    CASE WHEN a.free_ns <= n.end_ns THEN a.free_ns END AS free_ns
  FROM chosen n
  CROSS JOIN memory_block a ON a.run_id = n.run_id AND a.rank = 0 AND a.pass = 'memory' AND a.device = n.device_kind
  WHERE a.alloc_ns <= n.end_ns AND coalesce(a.free_ns >= n.start_ns, 1)
),
change AS (
  SELECT
    d.setting,
    d.run_id,
    d.pass,
    d.category,
    d.time_ns,
    sum(d.bytes) AS bytes
  FROM (
    SELECT
      setting,
      run_id,
      pass,
      category,
      alloc_ns AS time_ns,
      allocated_bytes AS bytes
    FROM block
    UNION ALL
    SELECT
      setting,
      run_id,
      pass,
      category,
      free_ns,
      -allocated_bytes
    FROM block WHERE free_ns IS NOT NULL
  ) d
  GROUP BY d.setting, d.run_id, d.pass, d.category, d.time_ns
)
SELECT
  c.setting,
  c.run_id,
  c.pass,
  k.title AS category,
  c.time_ns,
  sum(c.bytes) OVER (PARTITION BY c.setting, c.run_id, c.category ORDER BY c.time_ns) AS bytes
FROM change c
JOIN memory_category k ON k.category = c.category
ORDER BY c.run_id, k.category_order, c.time_ns
