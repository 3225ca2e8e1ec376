-- SPDX-License-Identifier: Apache-2.0
-- Two ranks of run 1 declare 1e9 FLOP each in forward, one declares bytes in backward: rates are means over the ranks.
-- Run 2 declares nothing, run 3 the whole step, run 4 zeros.
UPDATE run SET ranks = 2 WHERE run_id = 1;
INSERT INTO statistic (run_id, phase, clock, count, excluded, all_throttled, mean_ns, median_ns, min_ns, max_ns) VALUES
(1, 'step', 'host', 3, 0, 0, 4e6, 4e6, 4e6, 4e6), (1, 'forward', 'host', 3, 0, 0, 2e6, 2e6, 2e6, 2e6),
(1, 'backward', 'host', 3, 0, 0, 1e6, 1e6, 1e6, 1e6), (1, 'other', 'host', 3, 0, 0, 1e6, 1e6, 1e6, 1e6),
(2, 'step', 'host', 3, 0, 0, 4e6, 4e6, 4e6, 4e6), (3, 'step', 'host', 3, 0, 0, 0, 0, 0, 0),
(4, 'step', 'host', 3, 0, 0, 4e6, 4e6, 4e6, 4e6);
INSERT INTO work (run_id, rank, phase, flops, bytes) VALUES
(1, 0, 'forward', 1e9, 5e8), (1, 1, 'forward', 1e9, 0), (1, 0, 'backward', 0, 3e8), (3, 0, 'step', 7, 7),
(4, 0, 'step', 0, 0);
SELECT * FROM throughput ORDER BY run_id, phase;
