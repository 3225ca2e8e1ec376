-- SPDX-License-Identifier: Apache-2.0
-- The commits of each series of `kymo history`; the first one after a change point states it.
-- column series: title="case", optional=true
-- column branch: optional=true, omit=2
-- column runs: align="right", omit=1
-- column time_ns: title="{what}step", unit="ns", prefix="auto", format="significant", digits=3
-- column min_ns: title="between runs", unit="ns", prefix="auto", format="significant", digits=3, to="max_ns", omit=3
-- column change: align="right", optional=true
-- column busy: title="machine busy", optional=true
WITH series AS MATERIALIZED (
  SELECT
    h.key,
    h.value AS series,
    count(*) OVER () > 1 AS is_one_of_many,
    min(h.value ->> 'statistic') OVER () = max(h.value ->> 'statistic') OVER () AS is_common
  FROM json_each(:history, '$.series') h
),
change AS MATERIALIZED (
  SELECT
    s.key,
    c.value ->> 'commit' AS position,
    c.value ->> 'ratio' AS ratio
  FROM series s, json_each(s.series -> 'changes') c
)
SELECT
  iif(s.is_one_of_many, s.series ->> 'title', NULL) AS series,
  m.value ->> 'short_hash' AS "commit",
  substr(m.value ->> 'committed_at', 1, 10) AS date,
  m.value ->> 'branch' AS branch,
  json_array_length(m.value -> 'run_ids') AS runs,
  m.value ->> 'time_ns' AS time_ns,
  m.value ->> 'min_ns' AS min_ns,
  m.value ->> 'max_ns' AS max_ns,
  ratio_text(c.ratio) AS change,
  CASE
    WHEN json_array_length(m.value -> 'busy_run_ids') > 0 THEN
      json_array_length(m.value -> 'busy_run_ids') || ' of '
      || (json_array_length(m.value -> 'run_ids') + json_array_length(m.value -> 'busy_run_ids')) || ' runs'
  END AS busy,
  iif(s.is_common, s.series ->> 'statistic' || ' ', '') AS what
FROM series s
JOIN json_each(s.series -> 'commits') m
LEFT JOIN change c ON c.key = s.key AND c.position = m.key
ORDER BY s.key, m.key
