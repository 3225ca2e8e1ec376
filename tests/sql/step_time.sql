-- SPDX-License-Identifier: Apache-2.0
INSERT INTO step_duration (run_id, phase, step, warmup, throttled, ranks, host_ns, device_ns) VALUES
(1, 'step', 0, 1, 0, 1, 3000000, NULL), (1, 'forward', 0, 1, 0, 1, 2000000, 1500000),
(1, 'step', 1, 0, 1, 1, 1000000, 900000);
INSERT INTO sample (
  run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, cpu_ns, involuntary_switches
) VALUES
(1, 0, 'time', 0, 'forward', 1, 0, 1, 50, 2000000, NULL, NULL),
(1, 0, 'trace', 0, 'step', 1, 0, 1, 60, 3000000, NULL, NULL),
(1, 1, 'time', 1, 'step', 0, 0, 1, 70, 1000000, 500000, 2), (1, 2, 'time', 1, 'step', 0, 0, 1, 71, 1000000, 250000, 1);
INSERT INTO gpu_sample (run_id, rank, pass, step, time_ns, sm_clock_mhz, throttle_reasons) VALUES
(1, 1, 'time', 1, 0, 1500, 0), (1, 2, 'time', 1, 0, 1600, 0), (1, 0, 'trace', 0, 0, 1700, 0);
SELECT * FROM step_time ORDER BY step, phase;
