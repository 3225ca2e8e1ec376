-- SPDX-License-Identifier: Apache-2.0
-- caption: Peak memory of each phase.
-- pivot phase: values=["peak"], order="phase_order"
-- column setting: title="case"
-- column idle: title="before the steps", format="bytes"
-- column peak: title="{}", format="bytes"
-- note: Allocated memory, fp32. Before the steps: after preparation, with parameters only.
-- empty: Not in this database: `kymo suite run cs336 --filter '^memory'` adds this data.
SELECT
  m.size || ', context ' || m.context || ', ' || CASE m.mode WHEN 'forward' THEN 'forward only' ELSE 'full step' END
    AS setting,
  max(o.bytes) AS idle,
  p.phase,
  CASE p.phase WHEN 'forward' THEN 1 WHEN 'backward' THEN 2 WHEN 'optimizer' THEN 3 ELSE 4 END AS phase_order,
  max(p.peak_allocated_bytes) AS peak
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'memory' AND m.status = 'ok' AND m.precision = 'fp32'
JOIN memory_peak p ON p.run_id = m.run_id AND p.rank = 0 AND p.device = m.device_kind
LEFT JOIN memory_by_category o
  ON o.run_id = m.run_id AND o.rank = 0 AND o.device = m.device_kind AND o.phase = 'step' AND o.category = 'parameter'
WHERE p.phase NOT IN ('step', 'run', 'warm-up', 'outside', 'other')
GROUP BY m.size, m.context, m.mode, p.phase
ORDER BY m.size_order, m.context, m.mode, phase_order
