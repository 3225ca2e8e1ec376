-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: short_kernels
-- Per step, the feed-forward of run 14, on a CPU, calls 1,000 short operators, and its optimizer 500. Too few are the
-- 499 of the softmax, one of which is of the collected run; too long are 600 products that take 25 µs; and those of the
-- loader do not count. Run 12, on a GPU, launches 600 kernels of 1 µs.
INSERT INTO string (string_id, text) VALUES
(90, 'data_loading'), (91, 'aten::mul'), (92, 'aten::add'), (94, 'aten::mm');
WITH given (sequence, phase_id, scope_id, name_id, calls, self_us) AS (
  VALUES
  (80, 1, 25, 91, 600, 600), (81, 2, 25, 92, 400, 400), (82, 1, 22, 91, 498, 498), (83, 1, 26, 94, 600, 15000),
  (86, 1, 25, 94, 600, 15000),
  (84, 90, 24, 91, 2000, 2000), (85, 3, NULL, 91, 500, 600)
)
INSERT INTO op_total (
  run_id, rank, pass, sequence, phase_id, scope_id, name_id, backward, steps, calls, host_ns, self_host_ns, kernels,
  device_ns
)
SELECT
  14,
  0,
  'ops',
  sequence,
  phase_id,
  scope_id,
  name_id,
  0,
  2,
  2 * calls,
  2000 * self_us,
  2000 * self_us,
  0,
  0
FROM given;
SELECT * FROM _short_operators ORDER BY run_id, module;
