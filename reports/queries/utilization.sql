-- SPDX-License-Identifier: Apache-2.0
-- Utilization of the device by the selected runs, in the units of tables.
SELECT
  u.run_id,
  u.phase,
  u.time_ms,
  u.model_flops / 1e9 AS model_gflop,
  u.measured_peak_flop_rate / 1e9 AS peak_gflops,
  100 * u.mfu AS mfu,
  100 * u.hfu AS hfu,
  100 * u.unknown_share AS unknown
FROM selected_run s
JOIN step_utilization u ON u.run_id = s.run_id
WHERE u.model_flops > 0
