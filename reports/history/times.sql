-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of a step by commit: median over the runs, with half the range of the runs, and the median of the runs
--   between the change points.
-- empty: No run belongs to a commit.
WITH start AS (
  SELECT
    c.series_id,
    c.position,
    (
      SELECT count(*)
      FROM history_change h
      WHERE h.series_id = c.series_id AND h.position <= c.position
    ) AS stretch,
    c.time_ms,
    (c.max_ms - c.min_ms) / 2 AS half_range_ms
  FROM history_commit c
)
SELECT
  s.title,
  p.position,
  p.time_ms,
  p.half_range_ms,
  'commits' AS line
FROM start p
JOIN history_series s ON s.series_id = p.series_id
UNION ALL
SELECT
  s.title,
  p.position,
  coalesce(
    (
      SELECT h.after_ms
      FROM history_change h
      WHERE h.series_id = p.series_id AND h.position <= p.position
      ORDER BY h.position DESC
      LIMIT 1
    ),
    (
      SELECT h.before_ms
      FROM history_change h
      WHERE h.series_id = p.series_id
      ORDER BY h.position
      LIMIT 1
    )
  ) AS time_ms,
  NULL AS half_range_ms,
  'between change points' AS line
FROM start p
JOIN history_series s ON s.series_id = p.series_id
WHERE p.series_id IN (SELECT series_id FROM history_change)
ORDER BY title, line, position
