-- SPDX-License-Identifier: Apache-2.0
-- Two repetitions of one case; a failed run is not counted, and a single run has no spread.
UPDATE run SET plan_key = 'twice' WHERE run_id IN (1, 2);
UPDATE run SET plan_key = 'twice', status = 'failed' WHERE run_id = 3;
DELETE FROM statistic;
-- The mean represents both runs in the phase `forward`.
INSERT INTO statistic (
  run_id, phase, clock, count, excluded, all_throttled, mean_ns, std_ns, median_ns, min_ns, max_ns, represented_by
) VALUES
(1, 'step', 'host', 10, 0, 0, 2000000, 200000, 1900000, 1, 2, 'mean'),
(2, 'step', 'host', 10, 0, 0, 1000000, 300000, 2100000, 1, 2, 'median'),
(3, 'step', 'host', 10, 0, 0, 9000000, 100000, 9000000, 1, 2, NULL),
(4, 'step', 'host', 10, 0, 0, 4000000, 100000, 4000000, 1, 2, NULL),
(1, 'forward', 'host', 10, 0, 0, 900000, 90000, 200000, 1, 2, 'mean'),
(2, 'forward', 'host', 10, 0, 0, 1100000, 110000, 400000, 1, 2, 'mean');
SELECT * FROM time_variation ORDER BY plan_key, phase;
