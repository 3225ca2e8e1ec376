-- SPDX-License-Identifier: Apache-2.0
-- The number of runs with each warning of a report, and of planned runs that were not started; no row if there is none.
SELECT
  1 AS any,
  nullif(
    count(DISTINCT CASE WHEN w.kind IN ('failed', 'crashed', 'timeout', 'interrupted', 'running') THEN w.run_id END), 0
  ) AS failed,
  nullif(count(DISTINCT CASE WHEN w.kind = 'oom' THEN w.run_id END), 0) AS oom,
  nullif(count(DISTINCT CASE WHEN w.kind = 'skipped' THEN w.run_id END), 0) AS skipped,
  nullif(count(DISTINCT CASE WHEN w.kind = 'not verified' THEN w.run_id END), 0) AS unverified,
  nullif(count(DISTINCT CASE WHEN w.kind = 'throttled' THEN w.run_id END), 0) AS throttled,
  nullif(count(DISTINCT CASE WHEN w.kind = 'all throttled' THEN w.run_id END), 0) AS all_throttled,
  nullif(count(DISTINCT CASE WHEN w.kind = 'unstable' THEN w.run_id END), 0) AS unstable,
  nullif(count(DISTINCT CASE WHEN w.kind = 'launch overhead' THEN w.run_id END), 0) AS late,
  nullif(count(DISTINCT CASE WHEN w.kind = 'dropped records' THEN w.run_id END), 0) AS dropped,
  (SELECT nullif(count(*), 0) FROM selected_unstarted_run) AS unstarted
FROM shown_warning w
HAVING count(*) > 0 OR unstarted > 0
