-- SPDX-License-Identifier: Apache-2.0
-- caption: Peak memory by context, fp32.
-- pivot mode: values=["peak"], order="mode_order"
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column peak: title="{}", format="bytes"
-- note: Allocated memory in the measured steps.
-- empty: Not in this database: `kymo suite run cs336 --filter '^memory'` adds this data.
SELECT
  m.size,
  m.context,
  CASE m.mode WHEN 'forward' THEN 'forward only' ELSE 'full step' END AS mode,
  m.mode = 'train' AS mode_order,
  max(CASE WHEN d.status_label <> '' THEN d.status_label ELSE p.peak_allocated_bytes END) AS peak
FROM selected_run s
JOIN
  transformer_run m
  ON m.run_id = s.run_id AND m.suite_case = 'memory' AND m.precision = 'fp32' AND m.mode IN ('forward', 'train')
JOIN run_status d ON d.run_id = m.run_id
LEFT JOIN memory_peak p ON p.run_id = m.run_id AND p.rank = 0 AND p.phase = 'step' AND p.device = m.device_kind
WHERE p.run_id IS NOT NULL OR d.status_label <> ''
GROUP BY m.size, m.context, m.mode
ORDER BY m.size_order, m.context, m.mode
