-- SPDX-License-Identifier: Apache-2.0
-- A line about each series of `kymo history`.
SELECT
  s.title || ' (' || s.project || ', ' || s.machine || '): ' || s.commits
  || iif(s.commits = 1, ' commit, ', ' commits, ') || s.runs || iif(s.runs = 1, ' run, ', ' runs, ')
  || CASE
    WHEN s.changes > 0 THEN s.changes || iif(s.changes = 1, ' change point', ' change points')
    WHEN s.commits < :history ->> 'least_commits' THEN 'too few commits for a change point'
    ELSE 'no change point'
  END AS line
FROM (
  SELECT
    h.key,
    h.value ->> 'title' AS title,
    h.value ->> 'project' AS project,
    h.value ->> 'machine' AS machine,
    json_array_length(h.value -> 'commits') AS commits,
    json_array_length(h.value -> 'changes') AS changes,
    (
      SELECT sum(json_array_length(c.value -> 'run_ids'))
      FROM json_each(h.value -> 'commits') c
    ) AS runs
  FROM json_each(:history, '$.series') h
) s
ORDER BY s.key
