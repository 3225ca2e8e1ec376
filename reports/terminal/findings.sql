-- SPDX-License-Identifier: Apache-2.0
-- What takes the time of a step.
-- column share: format="percent"
SELECT
  f.subject,
  f.share,
  f.evidence,
  f.next_step,
  row_number() OVER (ORDER BY f.share IS NULL, f.share DESC, f.subject) AS number
FROM step_finding f
WHERE f.run_id = :run
ORDER BY number
