-- SPDX-License-Identifier: Apache-2.0
-- Rows besides those of `collected` and `compilations`.
-- Each kind of finding: run 12, on a GPU, is idle for half of its step, communicates for a quarter of it, and copies 8
-- values per step to the host, 5 of them in the optimizer. Of the steps of run 14, on a CPU, operators take three
-- quarters, a loader half, 600 calls of the optimizer a fifth, and a recompilation a part.
UPDATE step_activity SET comm_ns = 200000, exposed_comm_ns = 200000 WHERE run_id = 12 AND phase = 'step';
INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, device_ns)
VALUES
(14, 0, 'trace', 0, 'data_loading', 1, 0, 1, 0, 100000, NULL),
(14, 0, 'trace', 1, 'data_loading', 0, 0, 1, 6000000, 2000000, NULL),
(14, 0, 'trace', 2, 'data_loading', 0, 0, 1, 11000000, 2100000, NULL);
INSERT OR IGNORE INTO string (text) VALUES ('optimizer'), ('aten::add_'), ('memcpy device to host');
INSERT INTO kernel_total
(
  run_id, rank, pass, sequence, kind, phase_id, scope_id, name_id, attribution, steps, calls, bytes, total_ns, min_ns,
  max_ns
)
SELECT
  12,
  0,
  'ops',
  90 + p.string_id,
  'memcpy',
  p.string_id,
  NULL,
  n.string_id,
  'phase',
  2,
  CASE p.text WHEN 'optimizer' THEN 10 ELSE 6 END,
  64,
  16000,
  1000,
  1000
FROM string p
JOIN string n ON n.text = 'memcpy device to host'
WHERE p.text IN ('optimizer', 'backward');
INSERT INTO op_total
(
  run_id, rank, pass, sequence, phase_id, scope_id, name_id, backward, steps, calls, host_ns, self_host_ns, kernels,
  device_ns
)
SELECT
  14,
  0,
  'ops',
  90,
  p.string_id,
  NULL,
  n.string_id,
  0,
  2,
  1200,
  2400000,
  2400000,
  0,
  0
FROM string p
JOIN string n ON n.text = 'aten::add_'
WHERE p.text = 'optimizer';
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit)
VALUES
(14, 0, 'ops', 900, 'run', -1, '', 'not_observed', 'compilations: no such attribute', ''),
(14, 0, 'trace', 900, 'run', -1, '', 'not_observed', 'compilations: no such attribute', '');
-- Communication on a CPU: nothing else runs for half of a step of run 1, and for a hundredth of a step of run 14.
INSERT INTO step_activity
(
  run_id, rank, pass, step, phase, warmup, start_ns, end_ns, kernels, kernel_ns, compute_ns, comm_ns, overlap_ns,
  exposed_comm_ns, copy_ns, exposed_copy_ns, idle_ns, gaps, longest_gap_ns
)
VALUES
(1, 0, 'ops', 0, 'step', 1, 0, 4000000, 0, 0, 0, 4000000, 0, 4000000, 0, 0, 0, 0, 0),
(1, 0, 'ops', 1, 'step', 0, 4000000, 8000000, 0, 0, 1500000, 2500000, 500000, 2000000, 0, 0, 500000, 1, 500000),
(1, 0, 'ops', 1, 'other', 0, 4000000, 8000000, 0, 0, 0, 4000000, 0, 4000000, 0, 0, 0, 0, 0),
(1, 1, 'ops', 1, 'step', 0, 4000000, 8000000, 0, 0, 0, 4000000, 0, 4000000, 0, 0, 0, 0, 0),
(14, 0, 'ops', 1, 'step', 0, 0, 6000000, 0, 0, 4500000, 60000, 0, 60000, 0, 0, 1440000, 3, 500000);
