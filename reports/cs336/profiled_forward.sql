-- SPDX-License-Identifier: Apache-2.0
-- Inference in the case kernels: the time of its forward pass with and without the profiler.
SELECT
  m.run_id,
  m.size,
  m.size_order,
  m.context,
  m.status,
  d.status_label,
  t.median_ms,
  t.median_low_ms AS low,
  t.median_high_ms AS high,
  coalesce(g.span_ms, o.observed_ms) AS profiled_ms,
  g.kernel_ms
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'kernels' AND m.mode = 'forward'
JOIN run_status d ON d.run_id = m.run_id
LEFT JOIN phase_time t ON t.run_id = m.run_id AND t.phase = 'forward'
LEFT JOIN launch_gap g ON g.run_id = m.run_id AND g.rank = 0 AND g.phase = 'forward'
LEFT JOIN trace_overhead o
  ON o.run_id = m.run_id AND o.rank = 0 AND o.pass = 'trace' AND o.phase = 'forward' AND m.device_kind = 'cpu'
