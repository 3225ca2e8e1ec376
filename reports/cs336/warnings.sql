-- SPDX-License-Identifier: Apache-2.0
-- caption: Warnings by run.
-- column suite_case: title="case", format="code"
-- column title: title="run"
-- column kind: title="warning"
-- column detail: title="details"
-- empty: No warnings: all runs completed, were verified and had stable step times; no GPU was throttled, and no records
--   were dropped.
SELECT
  r.suite_case,
  CASE count(DISTINCT r.run_id)
    WHEN 1 THEN coalesce(max(s.title_in_case), '1 run')
    ELSE count(DISTINCT r.run_id) || ' runs'
  END AS title,
  CASE c.kind WHEN 'oom' THEN 'OOM' ELSE c.kind END AS kind,
  c.detail
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
JOIN run_warning c ON c.run_id = r.run_id
GROUP BY r.suite_case, c.kind, c.detail
ORDER BY min(r.run_id), c.kind, c.detail
