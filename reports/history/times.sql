-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of a step by commit: the median of its runs, the fastest and the slowest of them, and the median of the
--   runs between change points.
-- empty: No run of a commit was measured while the machine was not busy.
WITH line (name, line_order) AS (
  VALUES ('median of the commit', 1), ('between change points', 2), ('slowest run', 3), ('fastest run', 4)
),
timed AS (
  SELECT
    c.series_id,
    c.position,
    l.name,
    l.line_order,
    CASE l.line_order
      WHEN 1 THEN c.time_ms
      WHEN 3 THEN c.max_ms
      WHEN 4 THEN c.min_ms
      ELSE
        coalesce(
          (
            SELECT h.after_ms
            FROM history_change h
            WHERE h.series_id = c.series_id AND h.position <= c.position
            ORDER BY h.position DESC
            LIMIT 1
          ),
          (
            SELECT h.before_ms
            FROM history_change h
            WHERE h.series_id = c.series_id
            ORDER BY h.position
            LIMIT 1
          )
        )
    END AS time_ms
  FROM history_commit c
  CROSS JOIN line l
  WHERE c.time_ms IS NOT NULL
)
SELECT
  s.title,
  t.position,
  t.time_ms,
  t.name AS line
FROM timed t
JOIN history_series s ON s.series_id = t.series_id
WHERE t.time_ms IS NOT NULL
ORDER BY s.title, t.line_order, t.position
