-- SPDX-License-Identifier: Apache-2.0
-- The loop was measured after the warm-up step 0, after step 2, when the machine was busy, after step 3, after step 5,
-- and not after the last step. Run 2 lacks the measurement before its first step. Run 3 has none.
INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr) VALUES
(1, 0, 'time', 1, 'a', 'ok', 1, '', ''), (2, 0, 'time', 1, 'a', 'ok', 1, '', ''),
(3, 0, 'time', 1, 'a', 'ok', 1, '', '');
INSERT INTO reference_loop (run_id, rank, pass, step, duration_ns) VALUES
(1, 0, 'time', 0, 10000), (1, 0, 'time', 2, 14000), (1, 0, 'time', 3, 10100), (1, 0, 'time', 5, 10400),
(2, 0, 'time', 2, 9000);
INSERT INTO step_duration (run_id, phase, step, warmup, throttled, ranks, host_ns) VALUES
(1, 'step', 0, 1, 0, 1, 99), (1, 'step', 1, 0, 0, 1, 100), (1, 'step', 2, 0, 0, 1, 101), (1, 'step', 3, 0, 0, 1, 102),
(1, 'step', 4, 0, 1, 1, 103), (1, 'step', 5, 0, 0, 1, 104), (1, 'step', 6, 0, 0, 1, 105),
(1, 'forward', 6, 0, 0, 1, 50), (2, 'step', 1, 0, 0, 1, 106), (2, 'step', 3, 0, 0, 1, 107),
(3, 'step', 1, 0, 0, 1, 108);
SELECT * FROM step_slowdown ORDER BY run_id, step;
