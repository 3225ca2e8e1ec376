-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- Run 33 reports its message size, run 35 failed, run 36 has one rank, and run 2 has no parameters.
UPDATE run SET family = 'collective' WHERE run_id = 2;
INSERT INTO statistic (run_id, phase, clock, count, excluded, all_throttled, mean_ns, median_ns, min_ns, max_ns) VALUES
(2, 'step', 'host', 1, 0, 0, 0, 0, 0, 0);
SELECT * FROM all_reduce_bandwidth ORDER BY run_id;
UPDATE param SET value = 'all_gather' WHERE name = 'operation' AND run_id = 31;
UPDATE param SET value = 'broadcast' WHERE name = 'operation' AND run_id = 33;
UPDATE param SET value = 'nccl' WHERE name = 'backend' AND run_id = 36;
SELECT
  run_id,
  backend,
  operation,
  algbw_gb_s,
  busbw_gb_s
FROM all_reduce_bandwidth
WHERE run_id > 30
ORDER BY run_id;
