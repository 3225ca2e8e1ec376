-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
SELECT
  machine,
  backend,
  ranks,
  dtype,
  in_place,
  message_sizes,
  smallest_bytes,
  largest_bytes,
  newest_run_id,
  alpha_us,
  bandwidth_gb_s,
  printf('%.6f', largest_residual) AS largest_residual
FROM all_reduce_fit;
-- Two sizes fit exactly. If a large message is faster than a small one, the bandwidth is NULL. The time per call is
-- never negative.
DELETE FROM param WHERE run_id = 34 AND name = 'bytes';
UPDATE param SET value = 'fp16' WHERE name = 'dtype' AND run_id IN (31, 33);
SELECT
  message_sizes,
  round(alpha_us, 6) AS alpha_us,
  bandwidth_gb_s,
  printf('%.6f', largest_residual) AS largest_residual
FROM all_reduce_fit;
UPDATE statistic SET median_ns = 100000 WHERE run_id = 33;
SELECT
  message_sizes,
  round(alpha_us, 6) AS alpha_us,
  bandwidth_gb_s,
  printf('%.6f', largest_residual) AS largest_residual
FROM all_reduce_fit;
UPDATE statistic SET median_ns = 100000000 WHERE run_id = 33;
SELECT
  message_sizes,
  round(alpha_us, 6) AS alpha_us,
  bandwidth_gb_s,
  printf('%.6f', largest_residual) AS largest_residual
FROM all_reduce_fit;
-- There is no fit for a single size or for zero times.
UPDATE statistic SET median_ns = 0 WHERE run_id = 33;
SELECT count(*) AS fits FROM all_reduce_fit;
