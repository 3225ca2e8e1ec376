-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: distributed
-- with: kernel_verdicts
-- with: kernel_counts
-- The order of launch is not that of start; copies do not count.
SELECT
  step,
  launch,
  phase_id,
  scope_id
FROM _launch_order WHERE run_id = 60 ORDER BY step, launch;
SELECT DISTINCT run_id FROM _launch_order;
