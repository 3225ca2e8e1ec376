-- SPDX-License-Identifier: Apache-2.0
-- caption: The whole model, eager and compiled: step time.
-- pivot implementation: values=["step_ms"], order="implementation_order"
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column precision: title="precision"
-- column mode: title="mode"
-- column step_ms: title="{}", unit="ms", format="measured", plus_minus="step_std_ms"
-- note: Means ± standard deviation of the steps. Forward alone is inference; the other rows are forward,
--   backward and AdamW.
-- empty: Not in this database: `kymo suite run cs336 --filter '^compiled-model'` adds this data.
SELECT
  m.size,
  m.context,
  m.precision,
  CASE m.mode WHEN 'forward' THEN 'forward alone' ELSE 'full step' END AS mode,
  x.title AS implementation,
  10 * x.family_order + p.choice AS implementation_order,
  coalesce(max(t.mean_ms), max(nullif(d.status_label, ''))) AS step_ms,
  max(t.std_ms) AS step_std_ms
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case LIKE 'compiled-model%'
JOIN run_series x ON x.run_id = m.run_id
JOIN run_status d ON d.run_id = m.run_id
JOIN run_parameter p ON p.run_id = m.run_id AND p.name IN ('compile', 'execution')
LEFT JOIN phase_time t ON t.run_id = m.run_id AND t.phase = 'step' AND d.status_label = ''
GROUP BY m.size, m.context, m.precision, m.mode, x.title, x.family_order, p.choice
ORDER BY m.size_order, m.size, m.context, m.precision, m.mode, implementation_order
