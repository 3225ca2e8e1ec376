-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: short_kernels
-- Of the steps of run 14, on a CPU (6 ms), 1,000 short operators of the feed-forward take a sixth and operators of f64
-- in the scores 13 %, and the program reads two values in the scores. What the loader and the optimizer read does not
-- count. Run 12, on a GPU (0.8 ms), launches 600 kernels of 1 µs.
INSERT INTO string (string_id, text) VALUES
(90, 'data_loading'), (91, 'aten::mul'), (92, 'aten::add'), (93, 'aten::_local_scalar_dense'), (94, 'aten::mm'),
(95, 'f64[64, 64], f64[64, 64]'), (96, 'f64[8]'), (97, 'f32[8]');
WITH given (sequence, phase_id, scope_id, name_id, calls, self_us) AS (
  VALUES
  (80, 1, 25, 91, 600, 600), (81, 2, 25, 92, 400, 400), (82, 90, NULL, 93, 16, 16), (83, 3, NULL, 93, 5, 5),
  (84, 1, 20, 93, 2, 2)
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
WITH given (sequence, scope_id, name_id, shapes_id, kind, dtype, host_us) AS (
  VALUES
  (80, 20, 94, 95, 'matmul', 'f64', 500), (81, 22, 91, 96, 'elementwise', 'f64', 300),
  (82, 22, 91, 97, 'elementwise', 'f32', 400), (83, 22, 91, 96, 'overhead', 'f64', 900)
)
INSERT INTO op_work (
  run_id, rank, pass, sequence, phase_id, scope_id, name_id, shapes_id, recomputed, kind, dtype, steps, calls, flops,
  model_flops, masked_model_flops, bytes, host_ns, kernels, device_ns
)
SELECT
  14,
  0,
  'ops',
  sequence,
  1,
  scope_id,
  name_id,
  shapes_id,
  0,
  kind,
  dtype,
  2,
  2,
  1000,
  1000,
  1000,
  1000,
  2000 * host_us,
  0,
  0
FROM given;
SELECT
  run_id,
  subject,
  round(share, 3) AS share,
  evidence,
  next_step
FROM step_finding
WHERE subject LIKE 'many short%' OR subject IN ('double precision', 'values read by the host')
ORDER BY run_id, share IS NULL, share DESC, subject;
