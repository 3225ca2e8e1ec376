-- SPDX-License-Identifier: Apache-2.0
-- A line about each series of `kymo history`.
SELECT
  s.title || ' (' || s.project || ', ' || s.machine || '): ' || s.commits
  || iif(s.commits = 1, ' commit, ', ' commits, ') || s.runs || iif(s.runs = 1, ' run, ', ' runs, ')
  || iif(s.busy_runs > 0, 'machine busy in ' || s.busy_runs || ' of them, ', '')
  || iif(
    s.statistic = 'fastest' AND s.enough_runs,
    'fastest steps of ' || s.compared_runs || ' undisturbed runs compared, ',
    ''
  )
  || CASE
    WHEN s.changes > 0 THEN s.changes || iif(s.changes = 1, ' change point', ' change points')
    WHEN s.enough_runs THEN 'no change point'
    WHEN s.commits < :history ->> 'least_commits' THEN 'too few commits for a change point'
    ELSE 'too few others for a change point'
  END AS line
FROM (
  SELECT
    h.key,
    h.value ->> 'title' AS title,
    h.value ->> 'project' AS project,
    h.value ->> 'machine' AS machine,
    h.value ->> 'busy_runs' AS busy_runs,
    h.value ->> 'enough_runs' AS enough_runs,
    h.value ->> 'statistic' AS statistic,
    json_array_length(h.value -> 'commits') AS commits,
    json_array_length(h.value -> 'changes') AS changes,
    (
      SELECT sum(json_array_length(c.value -> 'run_ids'))
      FROM json_each(h.value -> 'commits') c
    ) AS compared_runs,
    (
      SELECT sum(json_array_length(c.value -> 'run_ids') + json_array_length(c.value -> 'busy_run_ids'))
      FROM json_each(h.value -> 'commits') c
    ) AS runs
  FROM json_each(:history, '$.series') h
) s
ORDER BY s.key
