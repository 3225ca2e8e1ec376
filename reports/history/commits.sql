-- SPDX-License-Identifier: Apache-2.0
-- caption: The commits of each case, oldest first. Runs during which the machine was busy do not count.
-- empty: No run belongs to a commit.
-- column title: title="case"
-- column number: format="plain"
-- column short_hash: title="commit", format="code"
-- column branch: optional=true
-- column time_ms: title="{statistic} step", unit="ms", prefix="auto", format="significant", digits=3
-- column min_ms: title="between runs", unit="ms", prefix="auto", format="significant", digits=3, to="max_ms"
-- column busy: title="machine busy", optional=true
-- column statistic: hidden=true
SELECT
  s.title,
  c.position AS number,
  c.short_hash,
  substr(c.committed_at, 1, 10) AS date,
  c.branch,
  c.runs,
  c.time_ms,
  c.min_ms,
  c.max_ms,
  iif(c.busy_runs > 0, c.busy_runs || ' of ' || (c.runs + c.busy_runs) || ' runs', NULL) AS busy,
  s.statistic
FROM history_commit c
JOIN history_series s ON s.series_id = c.series_id
ORDER BY c.series_id, c.position
