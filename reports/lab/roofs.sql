-- SPDX-License-Identifier: Apache-2.0
-- empty: The peaks of the device were not measured: `kymo peaks` measures them.
SELECT DISTINCT
  t.case_title AS variant,
  'memory' AS label,
  'memory' AS kind,
  w.peak_byte_rate AS rate
FROM selected_run s
JOIN training_run t ON t.run_id = s.run_id
JOIN op_roofline w ON w.run_id = t.run_id
WHERE w.peak_byte_rate IS NOT NULL
UNION ALL
SELECT DISTINCT
  t.case_title,
  CASE w.dtype WHEN 'f32' THEN 'fp32' WHEN 'f16' THEN 'fp16' WHEN 'f8' THEN 'fp8' ELSE w.dtype END,
  'compute',
  w.peak_flop_rate
FROM selected_run s
JOIN training_run t ON t.run_id = s.run_id
JOIN op_roofline w ON w.run_id = t.run_id
WHERE w.peak_flop_rate IS NOT NULL AND (w.dtype = 'f32' OR w.kind IN ('matmul', 'attention', 'convolution'))
