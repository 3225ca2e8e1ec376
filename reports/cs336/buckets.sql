-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time with gradient buckets, compared with the cost model.
-- column setting: title="configuration", once=true
-- column bucket_mb: title="bucket", unit="MiB", format="plain"
-- column buckets: title="buckets", format="plain"
-- column launches: title="traced launches", format="plain"
-- column measured_ms: title="measured", unit="ms", format="significant", digits=4
-- column compute_only_ms: title="compute only", unit="ms", format="significant", digits=4
-- column overhead_ms: title="overhead", unit="ms", format="significant", digits=3
-- column predicted_overhead_ms: title="predicted overhead", unit="ms", format="significant", digits=3
-- column predicted_ms: title="predicted step", unit="ms", format="significant", digits=4
-- column relative_error: title="error of the overhead", unit="%", digits=1
-- note: Overhead: median step minus the step without gradient exchange. Predicted: gradient bytes over (buckets ×
--   bandwidth), plus buckets × time per call, from the fit to all-reduces. The error is that of the predicted overhead.
-- note: Buckets: gradient bytes over bucket size, rounded up, at most one per tensor. A tensor larger than a bucket has
--   its own bucket, so the number of launches may differ.
-- empty: Not in this database: `kymo suite run cs336 --filter '^(ddp|collectives)'` adds this data.
SELECT
  b.setting,
  CASE WHEN b.bucket_mb = CAST(b.bucket_mb AS INTEGER) THEN CAST(b.bucket_mb AS INTEGER) ELSE b.bucket_mb END
    AS bucket_mb,
  b.buckets,
  CAST(round(b.launches) AS INTEGER) AS launches,
  b.measured_ms,
  b.compute_only_ms,
  b.measured_overhead_ms AS overhead_ms,
  b.predicted_overhead_ms,
  b.predicted_ms,
  100 * b.relative_error AS relative_error
FROM selected_run s
JOIN bucket_prediction b ON b.run_id = s.run_id
ORDER BY b.setting, b.bucket_mb, s.run_id
