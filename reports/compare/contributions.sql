-- SPDX-License-Identifier: Apache-2.0
-- caption: What the difference of the time per step consists of: after − before, by kernel or operator:
-- empty: No case has records on both sides: add `--passes time,trace` (on a CPU `time,ops`) to both runs.
SELECT
  c.title,
  CASE WHEN r.position <= 10 THEN r.name ELSE 'all others' END AS name,
  sum(r.difference_ms) AS difference_ms
FROM ranked r
JOIN compared_case c ON c.case_id = r.case_id
GROUP BY r.case_id, min(r.position, 11)
ORDER BY r.case_id, min(r.position)
