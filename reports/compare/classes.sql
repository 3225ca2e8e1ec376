-- SPDX-License-Identifier: Apache-2.0
-- caption: Device time per step by kernel class, before and after:
-- empty: No kernel classes: no GPU, or no case has kernel records on both sides (`--passes time,trace`).
WITH newest AS (
  SELECT
    c.case_id,
    c.is_after,
    c.side,
    max(c.run_id) AS run_id
  FROM compared_run c
  JOIN kernel_pass k ON k.run_id = c.run_id AND k.rank = 0
  GROUP BY c.case_id, c.is_after
)
SELECT
  c.title,
  n.side,
  k.class,
  sum(k.total_ms) AS ms
FROM newest n
JOIN compared_case c ON c.case_id = n.case_id
JOIN kernel_summary k ON k.run_id = n.run_id AND k.rank = 0 AND k.phase = 'step'
WHERE (SELECT count(*) FROM newest o WHERE o.case_id = n.case_id) = 2
GROUP BY n.case_id, n.is_after, k.class
ORDER BY n.case_id, n.is_after, ms DESC
