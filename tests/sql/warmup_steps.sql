-- SPDX-License-Identifier: Apache-2.0
-- Run 1 has a median, run 2 only warm-up steps.
INSERT INTO step_duration (run_id, phase, step, warmup, throttled, ranks, host_ns, device_ns) VALUES
(1, 'step', 0, 1, 0, 1, 30000000, 1), (1, 'forward', 0, 1, 0, 1, 2, 1), (1, 'step', 1, 0, 1, 1, 11000000, 1),
(2, 'step', 0, 1, 0, 1, 5000000, NULL);
INSERT INTO statistic (run_id, phase, clock, count, excluded, all_throttled, mean_ns, median_ns, min_ns, max_ns) VALUES
(1, 'step', 'host', 3, 0, 0, 4e6, 10e6, 4e6, 4e6), (1, 'step', 'device', 3, 0, 0, 1, 1, 1, 1);
SELECT * FROM warmup_steps ORDER BY run_id, step;
