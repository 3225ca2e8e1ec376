-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time by bucket size, measured and predicted:
-- empty: No bucket size sweep: `kymo suite run cs336 --filter ddp` adds this data.
WITH prediction AS (
  SELECT b.*
  FROM selected_run s
  JOIN bucket_prediction b ON b.run_id = s.run_id
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
    0 AS series_order,
    'measured' AS series,
    measured_ms AS step_ms
  FROM prediction
  UNION ALL
  SELECT
    setting,
    bucket_mb,
    1,
    'predicted',
    predicted_ms
  FROM prediction
  UNION ALL
  SELECT
    setting,
    bucket_mb,
    2,
    'compute only',
    compute_only_ms
  FROM prediction
) a
WHERE a.step_ms IS NOT NULL
GROUP BY a.setting, a.series_order, a.series, a.bucket_mb
ORDER BY a.setting, a.series_order, a.bucket_mb
