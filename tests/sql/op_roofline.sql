-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- Times at the peaks and their share of the measured time; unknown work and types without a peak have none.
SELECT
  phase,
  name,
  arguments,
  kind,
  recomputed,
  calls,
  time_ms,
  round(share_of_step, 4) AS share,
  flops,
  bytes,
  intensity,
  flop_rate,
  byte_rate,
  compute_ms,
  memory_ms,
  bound,
  attained
FROM op_roofline ORDER BY phase, name, arguments, recomputed;
