-- SPDX-License-Identifier: Apache-2.0
-- caption: What limits a step, largest share first.
-- column subject: title="what"
-- column share: title="of the step", unit="%", digits=1
-- column evidence: title="because"
-- column next_step: title="next"
-- note: What takes a tenth of a step is listed, idle time from a fifth on. Shares overlap: they do not add up.
-- empty: Nothing stands out: no finding reaches its threshold, or no pass has recorded what it needs.
WITH finding AS (
  SELECT
    run_id,
    subject,
    share,
    evidence,
    next_step,
    1 AS is_limit
  FROM step_finding
  UNION ALL
  SELECT
    run_id,
    subject,
    NULL,
    evidence,
    next_step,
    0
  FROM not_recorded
)
SELECT
  f.subject,
  100 * f.share AS share,
  f.evidence,
  f.next_step
FROM finding f
WHERE f.run_id = (SELECT run_id FROM chosen)
ORDER BY f.share IS NULL, f.share DESC, f.is_limit DESC, f.subject
