-- SPDX-License-Identifier: Apache-2.0
-- empty: The peaks of the device were not measured: `kymo peaks` measures them.
SELECT DISTINCT
  o.variant,
  CASE p.kind WHEN 'matmul' THEN p.dtype ELSE 'memory' END AS label,
  CASE p.kind WHEN 'matmul' THEN 'compute' ELSE 'memory' END AS kind,
  p.rate
FROM observed o
JOIN kernel_work w ON w.run_id = o.run_id AND w.rank = 0 AND w.pass = 'ops'
JOIN rank k ON k.run_id = w.run_id AND k.rank = w.rank AND k.pass = w.pass
JOIN device_peak p
  ON p.device_id = k.device_id AND (p.kind = 'matmul' AND p.dtype = w.dtype OR p.rate = w.peak_byte_rate)
ORDER BY o.variant, label
