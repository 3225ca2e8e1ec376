-- SPDX-License-Identifier: Apache-2.0
-- caption: Warnings, with the runs that they apply to.
-- column suite_case: title="case", format="code"
-- column title: title="runs"
-- column kind: title="warning"
-- column detail: title="details"
-- note: Runs with the same warning share a row, with the first and the last of them.
-- empty: No warnings: all runs completed, were verified and had stable step times; no GPU was throttled, and no records
--   were dropped.
WITH warned AS (
  SELECT
    r.suite_case,
    CASE c.kind WHEN 'oom' THEN 'OOM' ELSE c.kind END AS kind,
    c.detail,
    count(DISTINCT r.run_id) AS runs,
    min(r.run_id) AS first_run_id,
    max(r.run_id) AS last_run_id
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  JOIN run_warning c ON c.run_id = r.run_id
  -- Runs without warm-up vary on purpose.
  WHERE NOT (c.kind = 'unstable' AND r.suite_case = 'timing-warmup')
  GROUP BY 1, 2, 3
)
SELECT
  w.suite_case,
  CASE w.runs
    WHEN 1 THEN coalesce(f.title_in_case, '1 run')
    ELSE w.runs || ' runs' || coalesce(': ' || nullif(f.title_in_case, l.title_in_case) || ' … ' || l.title_in_case, '')
  END AS title,
  w.kind,
  w.detail
FROM warned w
JOIN selected_run f ON f.run_id = w.first_run_id
JOIN selected_run l ON l.run_id = w.last_run_id
ORDER BY w.first_run_id, w.kind, w.detail
