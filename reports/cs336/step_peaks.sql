-- SPDX-License-Identifier: Apache-2.0
-- The peak of the steps of each model, by precision and mode.
SELECT
  m.size,
  m.size_order,
  m.context,
  m.mode,
  m.precision,
  max(p.peak_allocated_bytes) AS bytes
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'memory' AND m.status = 'ok'
JOIN memory_peak p ON p.run_id = m.run_id AND p.rank = 0 AND p.device = m.device_kind AND p.phase = 'step'
GROUP BY m.size, m.context, m.mode, m.precision
