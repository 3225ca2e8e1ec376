-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time by bucket size, measured and predicted:
-- empty: No bucket size sweep: `kymo suite run cs336 --filter ddp` adds this data.
SELECT
  b.setting,
  b.bucket_mb,
  a.key AS series,
  avg(a.value) AS step_ms
FROM selected_run s
JOIN bucket_prediction b ON b.run_id = s.run_id
JOIN
  json_each(
    json_object('measured', b.measured_ms, 'predicted', b.predicted_ms, 'compute only', b.compute_only_ms)
  ) a
WHERE a.value IS NOT NULL
GROUP BY b.setting, a.id, a.key, b.bucket_mb
ORDER BY b.setting, a.id, b.bucket_mb
