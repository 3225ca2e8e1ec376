-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: distributed
-- with: kernel_verdicts
-- One kernel for each verdict, and what is missing where there is none.
SELECT
  run_id,
  phase,
  module,
  short_name,
  calls,
  time_ms,
  round(share_of_step, 4) AS share,
  round(waves, 4) AS waves,
  operator,
  verdict,
  reason,
  next_step
FROM kernel_verdict
WHERE run_id > 40 OR class = 'communication'
ORDER BY run_id, phase, short_name;
SELECT DISTINCT thresholds FROM kernel_verdict;
