-- SPDX-License-Identifier: Apache-2.0
-- The stretches of commits between the change points of each series of `kymo history`, without those that were measured
-- while the machine was busy.
-- column series: title="case", optional=true
-- column commits: align="right"
-- column runs: align="right", omit=1
-- column time_ns: title="{what}step", unit="ns", prefix="auto", format="significant", digits=3
-- column change: align="right", optional=true
-- column interval: title="95 % interval", align="right", optional=true, omit=2
WITH series AS MATERIALIZED (
  SELECT
    h.key,
    h.value AS series,
    count(*) OVER () > 1 AS is_one_of_many,
    min(h.value ->> 'statistic') OVER () = max(h.value ->> 'statistic') OVER () AS is_common
  FROM json_each(:history, '$.series') h
),
boundary AS (
  SELECT
    s.key,
    0 AS begin_position,
    NULL AS change
  FROM series s
  UNION ALL
  SELECT
    s.key,
    c.value ->> 'commit' AS begin_position,
    c.value AS change
  FROM series s, json_each(s.series -> 'changes') c
),
stretch AS MATERIALIZED (
  SELECT
    t.*,
    lead(t.begin_position, 1, 1000000000) OVER (PARTITION BY t.key ORDER BY t.begin_position) AS end_position
  FROM boundary t
),
measured AS MATERIALIZED (
  SELECT
    s.key,
    m.key AS position,
    m.value AS facts
  FROM series s, json_each(s.series -> 'commits') m
),
summary AS (
  SELECT
    t.key,
    t.begin_position,
    count(DISTINCT m.position) AS commits,
    count(*) AS runs,
    min(m.position) AS first_position,
    max(m.position) AS last_position,
    median(r.value) AS time_ns
  FROM stretch t
  JOIN measured m ON m.key = t.key AND m.position >= t.begin_position AND m.position < t.end_position
  JOIN json_each(m.facts -> 'times_ns') r
  GROUP BY t.key, t.begin_position
)
SELECT
  iif(s.is_one_of_many, s.series ->> 'title', NULL) AS series,
  b.facts ->> 'short_hash' AS first_commit,
  substr(b.facts ->> 'committed_at', 1, 10) AS date,
  e.facts ->> 'short_hash' AS last_commit,
  u.commits,
  u.runs,
  u.time_ns,
  ratio_text(t.change ->> 'ratio') AS change,
  ratio_interval(t.change ->> 'ratio', t.change ->> 'ratio_low', t.change ->> 'ratio_high') AS interval,
  iif(s.is_common, s.series ->> 'statistic' || ' ', '') AS what
FROM stretch t
JOIN series s ON s.key = t.key
JOIN summary u ON u.key = t.key AND u.begin_position = t.begin_position
JOIN measured b ON b.key = t.key AND b.position = u.first_position
JOIN measured e ON e.key = t.key AND e.position = u.last_position
ORDER BY t.key, t.begin_position
