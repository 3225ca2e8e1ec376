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
-- Of two runs without communication, 24 and 25, run 23 is compared with that of its workload, then of its bucket size,
-- then with the newer one.
UPDATE param SET value = 0 WHERE run_id = 24 AND name = 'communicate';
UPDATE statistic SET median_ns = 1e6 * run_id WHERE run_id IN (24, 25) AND phase = 'step';
UPDATE run SET workload = 'other' WHERE run_id = 25;
SELECT compute_only_ms FROM bucket_prediction WHERE run_id = 23;
UPDATE run SET workload = 'ddp_bucketed' WHERE run_id = 25;
UPDATE param SET value = CASE run_id WHEN 25 THEN 50.0 ELSE 10.0 END WHERE run_id > 22 AND name = 'bucket_mb';
SELECT compute_only_ms FROM bucket_prediction WHERE run_id = 23;
UPDATE param SET value = 10.0 WHERE run_id = 25 AND name = 'bucket_mb';
SELECT compute_only_ms FROM bucket_prediction WHERE run_id = 23;
UPDATE param SET value = 1 WHERE run_id = 24 AND name = 'communicate';
UPDATE param SET value = 100.0 WHERE run_id = 24 AND name = 'bucket_mb';
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
