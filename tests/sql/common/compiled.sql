-- SPDX-License-Identifier: Apache-2.0
-- Runs of the suite cs336 that compare compiled with eager execution: the model in PyTorch and in C++, and attention.
-- Run 14 has no eager counterpart, run 15 was skipped, and run 18 is the eager run of another shape than run 17.
CREATE TEMP TABLE given (
  run_id INTEGER,
  workload TEXT,
  suite_case TEXT,
  status TEXT,
  variant TEXT,
  variant_order INTEGER,
  length INTEGER,
  forward_us INTEGER,
  backward_us INTEGER,
  step_us INTEGER,
  compile_s REAL
);
INSERT INTO given VALUES
(11, 'transformer_compiled', 'compiled-model', 'ok', 'none', 0, 256, 1000, 2000, 4000, NULL),
(12, 'transformer_compiled', 'compiled-model', 'ok', 'default', 1, 256, 500, 1000, 2000, 30),
(13, 'transformer_compiled', 'compiled-model-modes', 'ok', 'max-autotune-no-cudagraphs', 3, 256, 400, 900, 1600, 60),
(14, 'transformer_compiled', 'compiled-model', 'ok', 'default', 1, 512, 900, 1800, 3600, 32),
(15, 'transformer_compiled', 'compiled-model-modes', 'skipped', 'reduce-overhead', 2, 256, NULL, NULL, NULL, NULL),
(16, 'transformer_lm', 'compiled-model-graph', 'ok', 'eager', 0, 256, 1000, 1900, 3900, NULL),
(17, 'transformer_lm', 'compiled-model-graph', 'ok', 'graph', 1, 256, NULL, NULL, 3000, NULL),
(18, 'transformer_lm', 'compiled-model-graph', 'ok', 'eager', 0, 512, 2000, 3900, 7900, NULL),
(19, 'attention_compiled', 'compiled-attention', 'ok', 'none', 0, 256, 100, 200, 300, NULL),
(20, 'attention_compiled', 'compiled-attention', 'ok', 'default', 1, 256, 50, 150, 200, 9),
(21, 'attention_compiled', 'compiled-attention', 'oom', 'none', 0, 1024, NULL, NULL, NULL, NULL),
(22, 'attention_compiled', 'compiled-attention', 'ok', 'default', 1, 1024, 500, 1500, 2000, 11);
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
  2,
  run_id,
  1,
  workload,
  'c' || run_id,
  's' || run_id,
  'p' || run_id,
  'cs336',
  suite_case,
  '',
  0,
  1,
  'cuda',
  'sync',
  'step',
  5,
  10,
  'verify,time',
  0,
  status,
  CASE status WHEN 'skipped' THEN 'CUDA graphs require device=cuda' ELSE '' END,
  CASE status WHEN 'ok' THEN 'passed' ELSE '' END,
  '',
  '',
  '2026-01-05T00:00:00.000Z'
FROM given;
UPDATE run SET
  family = CASE workload WHEN 'attention_compiled' THEN 'attention' ELSE 'transformer' END,
  title = CASE workload WHEN 'transformer_lm' THEN workload ELSE 'PyTorch' END,
  family_order = CASE workload WHEN 'transformer_lm' THEN 0 WHEN 'transformer_compiled' THEN 1 ELSE 3 END
WHERE run_id IN (SELECT run_id FROM given);
INSERT INTO param (run_id, name, position, type, value, title, choice)
SELECT
  run_id,
  CASE workload WHEN 'transformer_lm' THEN 'execution' ELSE 'compile' END,
  9,
  'text',
  variant,
  CASE WHEN workload <> 'transformer_lm' THEN 'compile={}' WHEN variant = 'graph' THEN 'CUDA {}' ELSE '' END,
  variant_order
FROM given;
INSERT INTO param (run_id, name, position, type, value, choice)
SELECT
  g.run_id,
  p.name,
  p.position,
  p.type,
  CASE p.name WHEN 'context' THEN g.length ELSE p.value END,
  p.choice
FROM given g
JOIN (
  SELECT
    'size' AS name,
    0 AS position,
    'text' AS type,
    'small' AS value,
    1 AS choice
  UNION ALL
  SELECT
    'context',
    1,
    'int',
    NULL,
    NULL
  UNION ALL
  SELECT
    'batch',
    2,
    'int',
    4,
    NULL
  UNION ALL
  SELECT
    'dtype',
    3,
    'text',
    'fp32',
    0
  UNION ALL
  SELECT
    'autocast',
    4,
    'bool',
    0,
    NULL
  UNION ALL
  SELECT
    'mode',
    5,
    'text',
    'train',
    2
) p
WHERE g.workload <> 'attention_compiled';
INSERT INTO param (run_id, name, position, type, value)
SELECT
  g.run_id,
  p.name,
  p.position,
  p.type,
  CASE p.name WHEN 'seq' THEN g.length ELSE p.value END
FROM given g
JOIN (
  SELECT
    'seq' AS name,
    0 AS position,
    'int' AS type,
    NULL AS value
  UNION ALL
  SELECT
    'batch',
    1,
    'int',
    8
  UNION ALL
  SELECT
    'heads',
    2,
    'int',
    1
  UNION ALL
  SELECT
    'head_dim',
    3,
    'int',
    64
  UNION ALL
  SELECT
    'dtype',
    4,
    'text',
    'fp32'
  UNION ALL
  SELECT
    'causal',
    5,
    'bool',
    1
  UNION ALL
  SELECT
    'mode',
    6,
    'text',
    'forward_backward'
) p
WHERE g.workload = 'attention_compiled';
INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr)
SELECT
  run_id,
  0,
  'time',
  1,
  'h',
  status,
  2,
  '',
  ''
FROM given
WHERE status <> 'skipped';
INSERT INTO statistic (
  run_id, phase, clock, count, excluded, all_throttled, mean_ns, std_ns, median_ns, min_ns, max_ns
)
SELECT
  run_id,
  phase,
  'device',
  10,
  0,
  0,
  1e3 * us,
  100,
  1e3 * us,
  1e3 * us,
  1e3 * us
FROM (
  SELECT
    run_id,
    'forward' AS phase,
    forward_us AS us
  FROM given
  UNION ALL
  SELECT
    run_id,
    'backward',
    backward_us
  FROM given
  UNION ALL
  SELECT
    run_id,
    'step',
    step_us
  FROM given
)
WHERE us IS NOT NULL;
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit)
SELECT
  g.run_id,
  0,
  k.pass,
  k.sequence,
  'run',
  -1,
  '',
  k.name,
  CASE k.name WHEN 'compile_s' THEN g.compile_s * k.value ELSE k.value END,
  k.unit
FROM given g
JOIN (
  SELECT
    'time' AS pass,
    0 AS sequence,
    'compile_s' AS name,
    1 AS value,
    's' AS unit
  UNION ALL
  SELECT
    'verify',
    0,
    'compile_s',
    100,
    's'
  UNION ALL
  SELECT
    'time',
    1,
    'compiled_graphs',
    1,
    ''
  UNION ALL
  SELECT
    'time',
    2,
    'graph_breaks',
    0,
    ''
  UNION ALL
  SELECT
    'time',
    3,
    'recompilations',
    2,
    ''
) k
WHERE g.compile_s IS NOT NULL;
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(19, 0, 'time', 0, 'run', -1, '', 'memory_before_backward', 6000000, 'B'),
(20, 0, 'time', 9, 'run', -1, '', 'memory_before_backward', 5000000, 'B');
