-- SPDX-License-Identifier: Apache-2.0
-- caption: Peak allocated memory by context:
-- empty: No memory records: `kymo suite run cs336 --filter '^memory'` adds this data.
SELECT
  m.size,
  m.context,
  m.mode || ', ' || m.precision AS series,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE p.peak_allocated_bytes / 1073741824.0 END AS peak_gib
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'memory'
JOIN run_status d ON d.run_id = m.run_id
LEFT JOIN memory_peak p ON p.run_id = m.run_id AND p.rank = 0 AND p.phase = 'step' AND p.device = m.device_kind
WHERE p.run_id IS NOT NULL OR d.status_label <> ''
ORDER BY m.size_order, m.size, m.mode, m.precision, m.context, m.run_id
