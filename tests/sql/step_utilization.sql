-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- Model FLOPs without recomputation, over a step of 50 ms and 200 GFLOP/s; the phase backward was not timed.
SELECT
  phase,
  time_ms,
  flops,
  model_flops,
  masked_model_flops,
  declared_flops,
  dtype,
  measured_peak_flop_rate,
  nominal_peak_flop_rate,
  mfu,
  mfu_masked,
  hfu,
  nominal_mfu,
  round(unknown_share, 4) AS unknown_share
FROM step_utilization ORDER BY phase;
