-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: short_kernels
-- What the host of run 12 did while nothing ran on the GPU: most of it in a module with 600 short kernels, the rest in
-- two phases and after 8 copies to the host per step. Run 11 has a gap of less than a fifth of its step, in a loader.
INSERT INTO string (string_id, text) VALUES (90, 'data_loading'), (91, 'memcpy device to host');
INSERT INTO kernel_total (
  run_id, rank, pass, sequence, kind, phase_id, scope_id, name_id, attribution, steps, calls, bytes, total_ns, min_ns,
  max_ns
) VALUES
(12, 0, 'ops', 91, 'memcpy', 1, NULL, 91, 'phase', 2, 16, 64, 16000, 1000, 1000);
INSERT INTO idle_total (
  run_id, rank, pass, sequence, phase_id, scope_id, activity, steps, gaps, total_ns, after_copy_ns
)
VALUES
(11, 0, 'trace', 0, 90, NULL, 'host code', 2, 2, 300000, 0),
(12, 0, 'ops', 0, 1, 25, 'host code', 2, 1000, 600000, 0),
(12, 0, 'ops', 1, 1, 25, 'launch', 2, 0, 100000, 0),
(12, 0, 'ops', 2, 1, NULL, 'operator', 2, 10, 600000, 200000),
(12, 0, 'ops', 3, 2, 20, 'launch', 2, 6, 100000, 0);
SELECT * FROM step_finding WHERE run_id IN (11, 12) AND subject NOT LIKE 'sgemm%' ORDER BY run_id, subject;
