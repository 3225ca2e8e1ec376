-- SPDX-License-Identifier: Apache-2.0
-- caption: What limits a step, largest share first.
-- column subject: title="what"
-- column share: title="of the step", unit="%", digits=1
-- column evidence: title="because"
-- column next_step: title="next"
-- note: A finding appears from the threshold in its reason on. Shares overlap: they do not add up to a step.
-- empty: Nothing stands out: no finding reaches its threshold, or no pass has recorded what it needs.
SELECT
  f.subject,
  100 * f.share AS share,
  f.evidence,
  f.next_step
FROM step_finding f
WHERE f.run_id = (SELECT run_id FROM chosen)
ORDER BY f.share IS NULL, f.share DESC, f.subject
