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
