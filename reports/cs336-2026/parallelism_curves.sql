-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of computation and of communication in forward and backward by number of devices, by formula at the
--   measured rates; communication binds where its curve is above computation.
-- empty: Without numbers: `kymo suite run cs336 --filter '^(collectives|peaks)'` measures bandwidth and rate.
WITH RECURSIVE chosen AS (
  SELECT
    l.bytes_per_s AS w,
    l.flops_per_s AS c,
    1.0 * l.tokens AS b,
    1.0 * l.d_ff AS f,
    2560.0 AS d
  FROM selected_run s
  JOIN parallelism_limit l ON l.run_id = s.run_id
  WHERE l.flops_per_s > 0
  ORDER BY l.backend = 'nccl' DESC, l.ranks
  LIMIT 1
),
device (n) AS (
  SELECT 2
  UNION ALL
  SELECT n * 2
  FROM device
  WHERE n < 1024
)
SELECT
  n AS devices,
  s.key AS series,
  1e3 * s.value AS ms
FROM device
CROSS JOIN chosen
JOIN
  json_each(
    json_object(
      'computation', 18 * b * d * f / (n * c),
      'data parallelism', 12 * (n - 1) * d * f / (n * w),
      'FSDP', 18 * (n - 1) * d * f / (n * w),
      'tensor parallelism', 8 * (n - 1) * b * d / (n * w)
    )
  ) s
ORDER BY s.id, n
