-- SPDX-License-Identifier: Apache-2.0
-- The newest run with memory records among those with the fewest ranks, and its measured steps.
SELECT
  r.run_id,
  r.device_kind,
  y.start_ns,
  y.end_ns,
  r.workload || ', ' || s.title AS setting
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.status = 'ok'
JOIN memory_steps y ON y.run_id = r.run_id AND y.rank = 0
WHERE EXISTS (SELECT 1 FROM memory_block b WHERE b.run_id = r.run_id AND b.rank = 0 AND b.pass = 'memory')
ORDER BY r.ranks, r.run_id DESC
LIMIT 1
