-- SPDX-License-Identifier: Apache-2.0
-- caption: Status of every run of the suite.
-- column suite_case: title="case", format="code"
-- column title: title="run"
-- column warmup: title="warm-up steps"
-- column status: title="status"
-- column verified: title="verified"
-- note: Runs that did not complete are listed individually, except skipped runs; the next table shows the reasons.
-- note: Not started: planned, but the command ended before; more than 20 of a case share a row.
-- empty: No runs of the suite `cs336`.
WITH unstarted AS (
  SELECT
    u.*,
    CASE WHEN count(*) OVER (PARTITION BY u.suite_case) <= 20 THEN u.position END AS listed
  FROM selected_unstarted_run u
),
stated AS (
  SELECT
    r.suite_case,
    CASE count(*) WHEN 1 THEN coalesce(max(s.title_in_case), '1 run') ELSE count(*) || ' runs' END AS title,
    r.warmup,
    CASE r.status WHEN 'ok' THEN 'ok' ELSE d.status_label END AS status,
    d.verified,
    0 AS is_unstarted,
    min(r.run_id) AS position
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  JOIN run_status d ON d.run_id = r.run_id
  GROUP BY
    r.suite_case,
    r.warmup,
    r.status,
    d.verified,
    CASE WHEN r.status NOT IN ('ok', 'skipped') THEN r.run_id END
  UNION ALL
  SELECT
    u.suite_case,
    CASE count(*) WHEN 1 THEN coalesce(max(u.title_in_case), '1 run') ELSE count(*) || ' runs' END AS title,
    u.warmup,
    'not started' AS status,
    NULL AS verified,
    1 AS is_unstarted,
    min(u.position) AS position
  FROM unstarted u
  GROUP BY u.suite_case, u.warmup, u.listed
)
SELECT
  suite_case,
  title,
  warmup,
  status,
  verified
FROM stated
ORDER BY is_unstarted, position
