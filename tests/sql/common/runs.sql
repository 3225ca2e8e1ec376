-- SPDX-License-Identifier: Apache-2.0
-- Rows shared by all cases: two invocations, and runs 1 to 4 of workload saxpy. Each case modifies what it tests.
INSERT INTO invocation (invocation_id, uuid, command, started_at) VALUES
(1, 'u1', 'kymo run saxpy', '2026-01-02T00:00:00.000Z'),
(2, 'u2', 'kymo run saxpy', '2026-01-03T00:00:00.000Z');
INSERT INTO plugin (
  plugin_id, name, version, file, sha256, framework, framework_version, cuda_version, compiler
) VALUES (1, 'saxpy', '1.0', '/p/saxpy.so', 'aa', '', '', '', 'gcc 12');
INSERT INTO device (device_id, uuid, kind, name, memory_bytes) VALUES
(1, 'cpu-1', 'cpu', 'A processor', 1000), (2, 'gpu-1', 'cuda', 'A GPU', 2000);
WITH given (run_id, invocation_id, sequence, plan_key) AS (
  VALUES
  (1, 1, 0, 'p1'), (2, 1, 1, 'p2'), (3, 2, 0, 'p1'), (4, 2, 1, 'p3')
)
INSERT INTO run (
  run_id,
  invocation_id,
  sequence,
  plugin_id,
  workload,
  case_key,
  settings_key,
  plan_key,
  suite,
  suite_case,
  label,
  repetition,
  ranks,
  device_kind, timing, sync, warmup, steps, passes, seed, status, detail, verification, failed_pass, failed_phase,
  started_at
)
SELECT
  run_id,
  invocation_id,
  sequence,
  1,
  'saxpy',
  'c' || plan_key,
  's' || plan_key,
  plan_key,
  '',
  '',
  '',
  0,
  1,
  'cpu',
  'sync',
  'step',
  1,
  3,
  'time',
  0,
  'ok',
  '',
  '',
  '',
  '',
  '2026-01-0' || run_id || 'T00:00:00.000Z'
FROM given;
