-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
SELECT * FROM ddp_run ORDER BY run_id;
-- Tapered buckets.
UPDATE param SET value = 1, title = 'tapered' WHERE run_id = 24 AND name = 'taper';
SELECT
  run_id,
  strategy,
  taper
FROM ddp_run
WHERE bucket_mb IS NOT NULL
ORDER BY run_id;
-- A workload that has one scheme only.
DELETE FROM param WHERE run_id = 27 AND name = 'scheme';
SELECT
  run_id,
  strategy,
  scheme,
  scheme_order,
  variant
FROM ddp_run
WHERE family = 'optimizer_sharding'
ORDER BY run_id;
