-- SPDX-License-Identifier: Apache-2.0
-- empty: No memory segments by address: only the caching allocator of a GPU has segments.
-- What the allocator reserved for the blocks of memory_blocks.sql, limited to the measured steps.
SELECT
  n.setting,
  max(g.alloc_ns, n.start_ns) AS start_ns,
  CASE WHEN g.free_ns <= n.end_ns THEN g.free_ns END AS end_ns,
  g.address,
  g.bytes,
  g.stream
FROM chosen n
CROSS JOIN memory_segment g ON g.run_id = n.run_id AND g.rank = 0 AND g.pass = 'memory' AND n.device_kind = 'cuda'
WHERE g.alloc_ns <= n.end_ns AND coalesce(g.free_ns >= n.start_ns, 1)
ORDER BY setting, address, start_ns
