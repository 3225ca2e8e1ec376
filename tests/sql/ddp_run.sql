-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
SELECT * FROM ddp_run ORDER BY run_id;
-- Tapered buckets.
INSERT INTO param (run_id, name, type, value) VALUES (24, 'taper', 'bool', 1);
SELECT
  run_id,
  strategy,
  taper
FROM ddp_run
WHERE workload = 'ddp_bucketed'
ORDER BY run_id;
