-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
SELECT * FROM bucket_prediction ORDER BY run_id;
-- The number of buckets is limited to the number of tensors.
UPDATE metric SET value = 3 WHERE name = 'parameter_tensors';
SELECT
  run_id,
  buckets,
  predicted_overhead_ms
FROM bucket_prediction
ORDER BY run_id;
-- No run without communication, no gradient size, no fit.
UPDATE param SET value = 1 WHERE run_id = 25 AND name = 'communicate';
DELETE FROM metric WHERE run_id = 23 AND name <> 'backend';
SELECT
  run_id,
  buckets,
  compute_only_ms,
  predicted_overhead_ms,
  predicted_ms,
  relative_error,
  best_bucket_mb,
  best_measured_bucket_mb
FROM bucket_prediction
ORDER BY run_id;
DELETE FROM statistic WHERE run_id > 30;
SELECT
  run_id,
  buckets,
  alpha_us,
  predicted_overhead_ms,
  best_bucket_mb
FROM bucket_prediction
ORDER BY run_id;
-- The model excludes tapered buckets.
UPDATE param SET value = 1 WHERE run_id = 24 AND name = 'taper';
SELECT
  run_id,
  best_measured_bucket_mb
FROM bucket_prediction
ORDER BY run_id;
