-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- Run 44: calls 0 and 1 overlap; call 2 starts in backward and ends in communication. Rank 1 has no phases.
SELECT * FROM collective_overlap ORDER BY run_id, rank, phase;
-- Two calls start at the same time, the longer one first: overlapping time counts once.
UPDATE collective SET start_ns = 1100000, end_ns = 1400000 WHERE run_id = 44 AND rank = 0 AND sequence = 0;
UPDATE collective SET start_ns = 1100000, end_ns = 1300000 WHERE run_id = 44 AND rank = 0 AND sequence = 1;
SELECT
  phase,
  in_flight_ms
FROM collective_overlap WHERE run_id = 44 AND rank = 0
ORDER BY phase;
