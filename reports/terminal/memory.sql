-- SPDX-License-Identifier: Apache-2.0
-- What is allocated at the peak of each phase, on the first rank with records.
-- pivot title: values=["bytes"], order="position"
-- column device: hidden=true
-- column peak_allocated_bytes: title="peak", format="bytes"
-- column peak_reserved_bytes: hidden=true
-- column bytes: format="bytes", omit=1
SELECT
  c.device,
  c.phase,
  c.peak_allocated_bytes,
  p.peak_reserved_bytes,
  c.title,
  nullif(c.bytes, 0) AS bytes,
  -max(c.bytes) OVER (PARTITION BY c.category) AS position
FROM memory_by_category c
JOIN memory_peak p
  ON p.run_id = c.run_id AND p.rank = c.rank AND p.pass = c.pass AND p.device = c.device AND p.phase = c.phase
WHERE
  c.phase NOT IN ('run', 'step')
  AND c.pass = 'memory'
  AND c.run_id = :run
  AND c.rank = (SELECT min(k.rank) FROM rank k WHERE k.pass = 'memory' AND k.run_id = :run)
ORDER BY c.device = 'cpu', c.peak_allocated_bytes DESC
