-- SPDX-License-Identifier: Apache-2.0
-- caption: Step by size of the buckets, measured and predicted:
-- empty: No sweep of bucket sizes was made: `kymo suite run cs336 --filter ddp` fills this section.
WITH part AS (
  SELECT b.*
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
  JOIN bucket_prediction b ON b.run_id = r.run_id
)
SELECT
  a.setting,
  a.bucket_mb,
  a.series,
  avg(a.step_ms) AS step_ms
FROM (
  SELECT
    setting,
    bucket_mb,
    0 AS place,
    'measured' AS series,
    measured_ms AS step_ms
  FROM part
  UNION ALL
  SELECT
    setting,
    bucket_mb,
    1,
    'predicted',
    predicted_ms
  FROM part
  UNION ALL
  SELECT
    setting,
    bucket_mb,
    2,
    'without exchange',
    silent_ms
  FROM part
) a
WHERE a.step_ms IS NOT NULL
GROUP BY a.setting, a.place, a.series, a.bucket_mb
ORDER BY a.setting, a.place, a.bucket_mb
