-- SPDX-License-Identifier: Apache-2.0
-- Run 1 has ten steps without warm-up on a GPU with a rising clock; the rank with more driver allocations counts. Run 2
-- has two steps and no readings, run 3 one step. Run 4 has a warm-up step and is excluded.
UPDATE run SET warmup = 0 WHERE run_id IN (1, 2, 3);
INSERT INTO step_duration (run_id, phase, step, warmup, throttled, ranks, host_ns, device_ns)
WITH given (run_id, step, ms) AS (
  VALUES
  (1, 0, 100), (1, 1, 12), (1, 2, 10), (1, 3, 10), (1, 4, 10), (1, 5, 10), (1, 6, 9), (1, 7, 8), (1, 8, 11), (1, 9, 30),
  (2, 0, 7), (2, 1, 5), (3, 0, 4), (4, 0, 9), (4, 1, 3)
)
SELECT
  run_id,
  'step',
  step,
  0,
  0,
  1,
  ms * 1000000,
  NULL
FROM given;
INSERT INTO memory_counter (
  run_id, rank, pass, step, time_ns, allocated_bytes, reserved_bytes, device_allocations
) VALUES
(1, 0, 'time', -1, 0, 10, 100, 4), (1, 0, 'time', 0, 0, 10, 500, 9), (1, 0, 'time', 1, 0, 10, 500, 9),
(1, 0, 'time', 2, 0, 10, 400, 9), (1, 1, 'time', -1, 0, 10, 100, 4), (1, 1, 'time', 0, 0, 10, 600, 10),
(1, 0, 'memory', 0, 0, 10, 9000, 99);
INSERT INTO gpu_sample (run_id, rank, pass, step, time_ns, sm_clock_mhz, throttle_reasons) VALUES
(1, 0, 'time', 0, 0, 1000, 0), (1, 0, 'time', 1, 0, 1500, 0), (1, 0, 'time', 4, 0, 1500, 0),
(1, 0, 'time', 5, 0, 1600, 0);
INSERT INTO mark (run_id, rank, pass, sequence, name, time_ns, step) VALUES
(1, 0, 'time', 0, 'worker: assigned', 1000000, -1), (1, 0, 'time', 1, 'worker: plugin loaded', 3000000, -1),
(1, 0, 'time', 2, 'worker: collectors armed', 6000000, -1), (1, 0, 'time', 3, 'worker: created', 10000000, -1),
(1, 0, 'time', 4, 'worker: prepared', 15000000, -1);
SELECT * FROM first_step_content ORDER BY run_id, step;
