-- SPDX-License-Identifier: Apache-2.0
-- The categories of the highest peak.
-- column peak: format="bytes"
-- column share: format="percent", digits=0
SELECT
  c.device,
  c.phase,
  c.peak_allocated_bytes AS peak,
  c.title,
  c.share
FROM memory_by_category c
WHERE
  c.pass = 'memory'
  AND c.run_id = :run
  AND c.rank = (SELECT min(k.rank) FROM rank k WHERE k.pass = 'memory' AND k.run_id = :run)
  AND (c.device, c.phase) = (
    SELECT
      p.device,
      p.phase
    FROM memory_peak p
    WHERE p.run_id = c.run_id AND p.rank = c.rank AND p.pass = c.pass AND p.phase NOT IN ('run', 'step')
    ORDER BY p.device = 'cpu', p.peak_allocated_bytes DESC
    LIMIT 1
  )
  AND c.share > 0.005
ORDER BY c.share DESC
