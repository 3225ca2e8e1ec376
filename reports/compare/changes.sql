-- SPDX-License-Identifier: Apache-2.0
-- caption: The twelve kernels or operators whose time per step changed most.
-- column title: title="case", once=true
-- column class: title="class", once=true
-- column name: title="name", format="code"
-- column change: title="change"
-- column before_ms: title="before", unit="ms", format="significant", digits=3
-- column after_ms: title="after", unit="ms", format="significant", digits=3
-- column difference_ms: title="difference", unit="ms", format="significant", digits=3
-- column before_calls: title="calls before", format="significant", digits=4
-- column after_calls: title="calls after", format="significant", digits=4
-- note: Kernels, copies and memsets on a GPU; self time of operators on a CPU.
-- empty: No case has records on both sides: add `--passes time,trace` (on a CPU `time,ops`) to both runs.
SELECT
  c.title,
  r.class,
  r.name,
  CASE
    WHEN r.before_ms IS NULL THEN 'gained'
    WHEN r.after_ms IS NULL THEN 'lost'
    WHEN r.difference_ms > 0 THEN 'longer'
    ELSE 'shorter'
  END AS change,
  r.before_ms,
  r.after_ms,
  r.difference_ms,
  r.before_calls,
  r.after_calls
FROM ranked r
JOIN compared_case c ON c.case_id = r.case_id
WHERE r.position <= 12
ORDER BY r.case_id, r.position
