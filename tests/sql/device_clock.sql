-- SPDX-License-Identifier: Apache-2.0
-- Step 0 is warm-up. One of the four readings of run 1 has no clock; the throttle reasons are power cap, thermal and
-- power brake. Run 2 has no readings in measured steps.
INSERT INTO gpu_sample (
  run_id, rank, pass, step, time_ns, sm_clock_mhz, memory_clock_mhz, power_mw, temperature_c, throttle_reasons
) VALUES
(1, 0, 'time', 0, 0, 100, 100, 1, 1, 255), (1, 0, 'time', 1, 0, 1900, 2600, 300000, 60, 4),
(1, 0, 'time', 2, 0, 1800, 2600, 400000, 70, 36), (1, 1, 'time', 1, 0, 1700, 2500, NULL, 80, 128),
(1, 1, 'time', 2, 0, NULL, NULL, NULL, 90, 0), (1, 0, 'memory', 3, 0, 1, 1, 1, 1, 255),
(2, 0, 'time', 0, 0, 1, 1, 1, 1, 0);
SELECT * FROM device_clock;
