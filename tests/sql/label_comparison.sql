-- SPDX-License-Identifier: Apache-2.0
-- Runs 1 and 2 are `before`; 3 and 4 are `after`, of which only 4 is of the newest invocation.
DELETE FROM statistic;
UPDATE run SET settings_key = 's', label = 'before', invocation_id = 1, sequence = 100 + run_id WHERE run_id IN (1, 2);
UPDATE run SET settings_key = 's', label = 'after', invocation_id = 1, sequence = 103 WHERE run_id = 3;
UPDATE run SET settings_key = 's', label = 'after', invocation_id = 2, sequence = 104 WHERE run_id = 4;
-- The mean represents one of two runs of `before`, which is no majority; for the phase `forward`, the run of `after`.
INSERT INTO statistic (
  run_id, phase, clock, count, excluded, all_throttled, mean_ns, std_ns, median_ns, min_ns, max_ns, represented_by
) VALUES
(1, 'step', 'host', 10, 0, 0, 2000000, 0, 1900000, 1, 2, 'mean'),
(2, 'step', 'host', 10, 0, 0, 1000000, 0, 2100000, 1, 2, 'median'),
(3, 'step', 'host', 10, 0, 0, 9000000, 0, 9000000, 1, 2, 'median'),
(4, 'step', 'host', 10, 0, 0, 4000000, 0, 4000000, 1, 2, NULL),
(1, 'forward', 'host', 10, 0, 0, 1100000, 0, 1000000, 1, 2, 'median'),
(2, 'forward', 'host', 10, 0, 0, 900000, 0, 800000, 1, 2, 'median'),
(4, 'forward', 'host', 10, 0, 0, 3000000, 0, 500000, 1, 2, 'mean');
SELECT * FROM label_comparison ORDER BY baseline, phase;
