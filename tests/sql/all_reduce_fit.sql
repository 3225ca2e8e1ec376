-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
SELECT
  machine,
  backend,
  ranks,
  dtype,
  in_place,
  sizes,
  smallest_bytes,
  largest_bytes,
  newest_run_id,
  alpha_us,
  bandwidth_gb_s,
  printf('%.6f', largest_error) AS largest_error
FROM all_reduce_fit;
-- Two sizes fit exactly; a large message that is faster than a small one has no bandwidth, and a call never costs less
-- than nothing.
DELETE FROM param WHERE run_id = 34 AND name = 'bytes';
UPDATE param SET value = 'fp16' WHERE name = 'dtype' AND run_id IN (31, 33);
SELECT
  sizes,
  round(alpha_us, 6) AS alpha_us,
  bandwidth_gb_s,
  printf('%.6f', largest_error) AS largest_error
FROM all_reduce_fit;
UPDATE statistic SET median_ns = 100000 WHERE run_id = 33;
SELECT
  sizes,
  round(alpha_us, 6) AS alpha_us,
  bandwidth_gb_s,
  printf('%.6f', largest_error) AS largest_error
FROM all_reduce_fit;
UPDATE statistic SET median_ns = 100000000 WHERE run_id = 33;
SELECT
  sizes,
  round(alpha_us, 6) AS alpha_us,
  bandwidth_gb_s,
  printf('%.6f', largest_error) AS largest_error
FROM all_reduce_fit;
-- One size alone, and times of nothing, fit nothing.
UPDATE statistic SET median_ns = 0 WHERE run_id = 33;
SELECT count(*) AS fits FROM all_reduce_fit;
