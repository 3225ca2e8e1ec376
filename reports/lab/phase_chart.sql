-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time by optimisation, by phase.
-- empty: No runs.
SELECT
  label,
  phase,
  ms
FROM phase_times
ORDER BY phase_order, position
