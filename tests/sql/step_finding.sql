-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- Each kind of finding: run 12, on a GPU, is idle for half of its step, communicates for a quarter of it, and copies 8
-- values per step to the host, 5 of them in the optimizer. Of the steps of run 14, on a CPU, operators take three
-- quarters, a loader half, and 600 calls of the optimizer a fifth.
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
SELECT * FROM step_finding ORDER BY run_id, share IS NULL, share DESC, subject;
