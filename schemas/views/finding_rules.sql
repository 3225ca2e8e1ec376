-- SPDX-License-Identifier: Apache-2.0
-- The limits and texts of findings.

-- The rules by which measures of a step become rows of step_finding, and their texts.
CREATE VIEW finding_rule AS
WITH rule (rule, least, subject, evidence, detail, next_step) AS (
  VALUES
  (
    'idle GPU',
    0.2,
    'idle GPU',
    'nothing runs on the GPU for %.3g ms of %.3g ms per step, in %.0f gaps',
    '; the host is then in %s',
    'launch fewer kernels: CUDA graphs, torch.compile, fused operators; the timeline shows the gaps'
  ),
  (
    'data loading',
    0.1,
    'data loading',
    '%.3g ms of %.3g ms per step',
    NULL,
    'load in more worker processes and further ahead: num_workers, prefetch_factor, pin_memory'
  ),
  (
    'copies to the host',
    1,
    'copies to the host',
    '%.10g per step, %.10g of them in %s',
    '; nothing runs on the GPU for %.3g ms after them',
    'the host waits for the GPU at each copy to unpinned memory: keep values on the GPU, '
    || 'without .item(), .cpu(), .tolist() or printing'
  ),
  (
    'values read by the host',
    1,
    'values read by the host',
    '%.10g per step, by .item(), float() or printing; most in %s',
    NULL,
    'on a GPU, the host would wait at each: keep values in tensors, and read them every N steps'
  ),
  (
    'host code',
    0.2,
    'host code outside of operators',
    'operators take %.3g ms of %.3g ms per step',
    '; data loading takes %.3g ms, communication alone %.3g ms',
    'the timeline shows what surrounds the time without operators'
  ),
  (
    'exposed communication',
    0.1,
    'exposed communication',
    'only communication runs for %.3g ms of %.3g ms per step',
    NULL,
    'start it earlier (buckets, overlap with backward), or exchange less (bf16 gradients)'
  ),
  (
    'short calls in the optimizer',
    0.1,
    'many short %s in the optimizer',
    '%.0f calls of %.3g µs take %.3g ms of %.3g ms per step; most often %s, %.0f times',
    '; nothing runs on the GPU for %.3g ms of it',
    'update all parameters with few kernels: fused=True or foreach=True'
  ),
  (
    'short calls in a module',
    0.1,
    'many short %s %s',
    '%.0f calls of %.3g µs take %.3g ms of %.3g ms per step; most often %s, %.0f times',
    '; nothing runs on the GPU for %.3g ms of it',
    'compute on whole tensors instead of in a loop, or fuse them with torch.compile'
  ),
  (
    'double precision',
    0.1,
    'double precision',
    'operators of f64 take %.3g ms of %.3g ms per step; most: %s(%s)',
    ' in %s',
    'float32 or bf16 unless the result needs it: look for .double(), float64 in NumPy and torch.set_default_dtype'
  ),
  (
    'optimizer',
    0.5,
    'optimizer',
    '%.3g ms of %.3g ms per step',
    '; %s takes %.0f %% of it',
    'updates usually take a small part of a step: use few kernels (fused=True, foreach=True), or larger batches'
  ),
  (
    'operator of the optimizer',
    0.5,
    'optimizer',
    '%.3g ms of %.3g ms per step',
    '; %s takes %.0f %% of it',
    'updates usually take a small part of a step: replace this operator, or call it less often'
  ),
  (
    'outside of phases',
    0.5,
    'outside of forward, backward and optimizer',
    '%.3g ms of %.3g ms per step',
    '; %s takes %.0f %% of it',
    'validation, logging and metrics belong to it: do less of it, or less often'
  ),
  ('wrong precision', 0.1, '%s', '%s: %s', NULL, 'use bf16 or TF32: autocast, torch.set_float32_matmul_precision'),
  ('memory-bound', 0.1, '%s', '%s: %s', NULL, 'fuse it with its neighbors, so that it moves fewer bytes'),
  ('compute-bound', 0.1, '%s', '%s: %s', NULL, 'it can only do less, or the same in a lower precision'),
  ('latency-bound', 0.1, '%s', '%s: %s', NULL, 'do more per call: larger batches, fused operators'),
  ('waiting for communication', 0.1, '%s', '%s: %s', NULL, 'give all ranks the same work before it'),
  ('communication-bound', 0.1, '%s', '%s: %s', NULL, 'overlap it with compute, or exchange less'),
  ('cannot be determined from these passes', 0.1, '%s', '%s: %s', NULL, ''),
  (
    'compilation',
    0.1,
    'compilation in measured steps',
    '%d compilations take %.3g ms in %d of %d measured steps',
    '; most often: %s',
    'mark sizes that change as dynamic (mark_dynamic, dynamic=True), or observe later steps (--steps)'
  ),
  (
    'graph breaks',
    1,
    'graph breaks',
    '%d, the first: %s',
    NULL,
    'rewrite the code at these lines: kernels are not fused across them'
  )
)
SELECT
  -- name of the rule; those of operators are verdicts of op_verdict
  rule,
  -- value from which a measure is a finding: share of a step, or number per step
  least,
  -- subject of the finding, a printf() format
  subject,
  -- format of the numbers that it is based on
  evidence,
  -- format of what follows them if it is known; or NULL
  detail,
  -- what to do next; empty if the view that has the measure knows it
  next_step
FROM rule;
