-- SPDX-License-Identifier: Apache-2.0
-- caption: Warnings, with the runs that they apply to.
-- column workload: title="workload", format="code"
-- column title: title="runs"
-- column kind: title="warning"
-- column location: title="location"
-- column detail: title="details"
-- note: Runs with the same warning share a row, with the first and the last of them.
-- empty: No warnings: all runs completed, were verified and had stable step times; no GPU was throttled, and no records
--   were dropped.
WITH warned AS (
  SELECT
    r.workload,
    CASE c.kind WHEN 'oom' THEN 'OOM' ELSE c.kind END AS kind,
    CASE
      WHEN c.kind <> r.status THEN NULL
      ELSE
        nullif(
          trim(
            r.failed_pass || CASE WHEN r.failed_phase = '' THEN '' ELSE ', ' || r.failed_phase END
            || CASE WHEN r.failed_step IS NULL THEN '' ELSE ', step ' || r.failed_step END,
            ', '
          ),
          ''
        )
    END AS location,
    c.detail,
    count(DISTINCT r.run_id) AS runs,
    min(r.run_id) AS first_run_id,
    max(r.run_id) AS last_run_id
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  JOIN run_warning c ON c.run_id = r.run_id
  GROUP BY 1, 2, 3, 4
),
shown AS (
  SELECT
    w.workload,
    CASE w.runs
      WHEN 1 THEN f.title
      ELSE w.runs || ' runs' || coalesce(': ' || nullif(f.title, l.title) || ' … ' || l.title, '')
    END AS title,
    w.kind,
    w.location,
    w.detail,
    w.first_run_id
  FROM warned w
  JOIN selected_run f ON f.run_id = w.first_run_id
  JOIN selected_run l ON l.run_id = w.last_run_id
  UNION ALL
  SELECT
    u.workload,
    CASE count(*)
      WHEN 1 THEN coalesce(u.title_in_case, '1 run')
      ELSE count(*) || ' runs' || coalesce(': ' || min(u.title_in_case) || ' …', '')
    END AS title,
    'not started' AS kind,
    NULL AS location,
    u.reason AS detail,
    NULL AS first_run_id
  FROM selected_unstarted_run u
  GROUP BY u.workload, u.reason
)
SELECT
  workload,
  title,
  kind,
  location,
  detail
FROM shown
ORDER BY first_run_id IS NULL, first_run_id, kind, location, workload, detail
