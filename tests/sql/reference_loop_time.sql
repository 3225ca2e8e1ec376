-- SPDX-License-Identifier: Apache-2.0
-- Run 1 has the lower one of two middle times; run 2 has three times, and run 3 one. The verify pass does not count.
INSERT INTO reference_loop (run_id, rank, pass, step, duration_ns) VALUES
(1, 0, 'time', 0, 18000), (1, 0, 'time', 4, 10500), (1, 0, 'time', 9, 10501), (1, 0, 'time', 12, 10000),
(1, 0, 'verify', 0, 1), (2, 0, 'time', 0, 15000), (2, 0, 'time', 9, 19000), (2, 0, 'time', 12, 16000),
(3, 0, 'time', 0, 12000);
SELECT * FROM reference_loop_time ORDER BY run_id;
