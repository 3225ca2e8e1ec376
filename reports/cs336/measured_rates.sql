-- SPDX-License-Identifier: Apache-2.0
-- The measured rates and the numbers of devices that follow, of NCCL if it was measured.
SELECT
  l.*,
  l.bytes_per_s / 1e9 AS w,
  l.flops_per_s / 1e12 AS c
FROM selected_run s
JOIN parallelism_limit l ON l.run_id = s.run_id
WHERE l.flops_per_s > 0
ORDER BY l.backend = 'nccl' DESC, l.ranks
LIMIT 1
