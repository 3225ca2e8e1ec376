-- SPDX-License-Identifier: Apache-2.0
-- caption: Warnings about the compared runs.
-- column title: title="case", once=true
-- column side: title="side"
-- column kind: title="kind"
-- column runs: title="runs"
-- column example: title="for example"
-- empty: No warnings about these runs.
SELECT
  c.title,
  r.side,
  w.kind,
  count(DISTINCT r.run_id) AS runs,
  min(w.detail) AS example
FROM compared_run r
JOIN compared_case c ON c.case_id = r.case_id
JOIN run_warning w ON w.run_id = r.run_id
GROUP BY c.case_id, r.is_after, w.kind
ORDER BY c.case_id, r.is_after, w.kind
