-- SPDX-License-Identifier: Apache-2.0
-- Attention runs on an H100: a grid with memory records, one case of which ran out of memory, and kernels with timing
-- hot, forward and backward in separate runs.
INSERT INTO device (device_id, uuid, kind, name, memory_bytes, multiprocessors, max_sm_clock_mhz) VALUES
(3, 'gpu-3', 'cuda', 'NVIDIA H100 80GB HBM3', 85000000000, 132, 1980),
(4, 'gpu-4', 'cuda', 'NVIDIA RTX A1000', 4000000000, 16, 1500),
(5, 'gpu-5', 'cuda', 'NVIDIA H200', 150000000000, 132, NULL),
(6, 'gpu-6', 'cuda', 'NVIDIA GB200', 190000000000, 148, 2000), (7, 'cpu-7', 'cpu', 'H100', 1000, 8, 3000);
CREATE TEMP TABLE given (
  run_id INTEGER,
  workload TEXT,
  suite_case TEXT,
  status TEXT,
  choice TEXT,
  batch INTEGER,
  seq INTEGER,
  head_dim INTEGER,
  dtype TEXT,
  causal INTEGER,
  mode TEXT,
  forward_us INTEGER,
  backward_us INTEGER
);
INSERT INTO given VALUES
-- The grid. Run 13 ran out of memory in its time pass, run 14 in its memory pass; run 15 has memory records but no
-- times.
(11, 'attention_naive', 'attention-memory', 'ok', NULL, 8, 256, 64, 'fp32', 1, 'forward_backward', 20, 40),
(12, 'attention_naive', 'attention-memory', 'ok', NULL, 8, 1024, 64, 'fp32', 1, 'forward_backward', 100, 250),
(13, 'attention_naive', 'attention-memory', 'oom', NULL, 8, 32768, 16, 'fp32', 1, 'forward_backward', NULL, NULL),
(
  14, 'attention_naive', 'attention-memory-blocks', 'oom', NULL, 8, 32768, 16, 'fp32', 1, 'forward_backward', NULL, NULL
),
(15, 'attention_naive', 'attention-memory-blocks', 'ok', NULL, 8, 4096, 16, 'fp32', 1, 'forward_backward', NULL, NULL),
(16, 'attention_flash', 'attention-memory-flash', 'ok', 'auto', 8, 1024, 64, 'fp32', 1, 'forward_backward', 50, 150),
-- Kernels at a sequence length that fills the device. Run 10 is an older duplicate of run 18; run 23 has no backward
-- run.
(10, 'attention_flash', 'flash', 'ok', 'flash', 1, 32768, 128, 'bf16', 0, 'backward', NULL, 9000),
(17, 'attention_flash', 'flash', 'ok', 'flash', 1, 32768, 128, 'bf16', 0, 'forward', 1000, NULL),
(18, 'attention_flash', 'flash', 'ok', 'flash', 1, 32768, 128, 'bf16', 0, 'backward', NULL, 3000),
(19, 'attention_naive', 'flash-naive', 'ok', NULL, 1, 32768, 128, 'bf16', 0, 'forward', 8000, NULL),
(20, 'attention_naive', 'flash-naive', 'ok', NULL, 1, 32768, 128, 'bf16', 0, 'backward', NULL, 12000),
(21, 'attention_sdpa', 'flash-library-bf16', 'ok', 'cudnn', 1, 32768, 128, 'bf16', 0, 'forward', 1200, NULL),
(22, 'attention_sdpa', 'flash-library-bf16', 'ok', 'cudnn', 1, 32768, 128, 'bf16', 0, 'backward', NULL, 3600),
(23, 'attention_sdpa', 'flash-library-bf16', 'ok', 'flash', 1, 32768, 128, 'bf16', 0, 'forward', 1500, NULL),
-- Kernels at a sequence length that leaves most of the device idle, and one without a LibTorch counterpart.
(24, 'attention_flash', 'flash', 'ok', 'flash', 1, 128, 128, 'bf16', 0, 'forward', 10, NULL),
(25, 'attention_flash', 'flash', 'ok', 'flash', 1, 128, 128, 'bf16', 0, 'backward', NULL, 30),
(26, 'attention_sdpa', 'flash-library-bf16', 'ok', 'cudnn', 1, 128, 128, 'bf16', 0, 'forward', 8, NULL),
(27, 'attention_sdpa', 'flash-library-bf16', 'ok', 'cudnn', 1, 128, 128, 'bf16', 0, 'backward', NULL, 24),
(28, 'attention_sdpa', 'flash-library-fp32', 'skipped', 'efficient', 1, 128, 128, 'fp32', 0, 'forward', NULL, NULL);
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
  CASE WHEN suite_case LIKE 'flash%' THEN 'hot' ELSE 'sync' END,
  'step',
  5,
  CASE WHEN suite_case LIKE 'flash%' THEN 10 ELSE 100 END,
  CASE suite_case WHEN 'attention-memory-blocks' THEN 'memory' ELSE 'time' END,
  0,
  status,
  CASE status WHEN 'oom' THEN 'CUDA out of memory' WHEN 'skipped' THEN 'LibTorch has none' ELSE '' END,
  '',
  '',
  CASE status WHEN 'oom' THEN 'backward' ELSE '' END,
  '2026-01-05T00:00:00.000Z'
FROM given;
INSERT INTO param (run_id, name, type, value)
SELECT
  run_id,
  'batch',
  'int',
  batch
FROM given
UNION ALL
SELECT
  run_id,
  'heads',
  'int',
  1
FROM given
UNION ALL
SELECT
  run_id,
  'seq',
  'int',
  seq
FROM given
UNION ALL
SELECT
  run_id,
  'head_dim',
  'int',
  head_dim
FROM given
UNION ALL
SELECT
  run_id,
  'dtype',
  'text',
  dtype
FROM given
UNION ALL
SELECT
  run_id,
  'causal',
  'bool',
  causal
FROM given
UNION ALL
SELECT
  run_id,
  'mode',
  'text',
  mode
FROM given
UNION ALL
SELECT
  run_id,
  CASE workload WHEN 'attention_flash' THEN 'implementation' ELSE 'backend' END,
  'text',
  choice
FROM given
WHERE choice IS NOT NULL;
UPDATE run SET
  family = 'attention',
  title = CASE workload WHEN 'attention_naive' THEN 'naive' WHEN 'attention_sdpa' THEN 'LibTorch' ELSE '' END,
  family_order = CASE workload WHEN 'attention_naive' THEN 0 WHEN 'attention_flash' THEN 1 ELSE 2 END
WHERE run_id IN (SELECT run_id FROM given);
UPDATE param SET title = CASE name WHEN 'backend' THEN ' {cudnn=cuDNN}' ELSE '{}' END
WHERE name IN ('implementation', 'backend');
INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr)
SELECT
  run_id,
  0,
  CASE suite_case WHEN 'attention-memory-blocks' THEN 'memory' ELSE 'time' END,
  1,
  'h',
  status,
  3,
  '',
  ''
FROM given
WHERE status <> 'skipped';
INSERT INTO statistic (
  run_id, phase, clock, count, excluded, all_throttled, mean_ns, std_ns, median_ns, median_low_ns, median_high_ns,
  min_ns, max_ns
)
SELECT
  run_id,
  phase,
  'device',
  10,
  0,
  0,
  1e3 * us + 200,
  100,
  1e3 * us,
  1e3 * us - 1000,
  1e3 * us + 1000,
  1e3 * us,
  1e3 * us + 2000
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
    coalesce(forward_us, 0) + coalesce(backward_us, 0) + CASE mode WHEN 'forward_backward' THEN 5 ELSE 0 END
  FROM given
  WHERE forward_us + backward_us > 0 OR mode <> 'forward_backward' AND status = 'ok'
)
WHERE us IS NOT NULL;
INSERT INTO work (run_id, rank, phase, flops, bytes)
SELECT
  run_id,
  0,
  phase,
  share * 4.0 * batch * seq * seq * head_dim * CASE causal WHEN 1 THEN 0.5 ELSE 1 END,
  1e6
FROM given
JOIN (
  SELECT
    'forward' AS phase,
    1.0 AS share
  UNION ALL
  SELECT
    'backward',
    2.5
)
WHERE mode IN (phase, 'forward_backward') AND status <> 'skipped';
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(11, 0, 'time', 0, 'step', 0, '', 'memory_before_backward', 6000000, 'B'),
(12, 0, 'time', 0, 'step', 0, '', 'memory_before_backward', 48000000, 'B'),
(13, 0, 'time', 0, 'step', 0, '', 'memory_before_backward', 43000000000, 'B'),
(16, 0, 'time', 0, 'run', -1, '', 'implementation', 'flash', ''),
(16, 0, 'time', 1, 'step', 0, '', 'memory_before_backward', 8400000, 'B');
INSERT INTO out_of_memory (run_id, rank, pass, location, requested_bytes, free_bytes, peak_bytes) VALUES
(13, 0, 'time', 'device', 34359738368, 7000000000, 77000000000),
(14, 0, 'memory', 'device', 34359738368, 7000000000, 77376520192);
UPDATE rank SET reserved_peak_bytes = 76000000000 WHERE run_id = 14;
INSERT INTO memory_phase (
  run_id, rank, pass, device, step, phase, warmup, begin_allocated_bytes, end_allocated_bytes, peak_requested_bytes,
  peak_allocated_bytes, peak_active_bytes, peak_reserved_bytes, peak_ns
) VALUES
(15, 0, 'memory', 'cuda', 0, 'backward', 0, 614000000, 80000000, 1700000000, 1700000000, 1700000000, 1800000000, 5),
(15, 0, 'memory', 'cuda', 0, 'step', 0, 67000000, 80000000, 1700000000, 1700000000, 1700000000, 1800000000, 5);
INSERT INTO memory_phase_category (run_id, rank, pass, device, step, phase, category, bytes) VALUES
(15, 0, 'memory', 'cuda', 0, 'backward', 'input', 1700000000),
(15, 0, 'memory', 'cuda', 0, 'step', 'input', 1700000000);
INSERT INTO string (string_id, text) VALUES
(901, 'forward'), (902, 'backward'), (903, 'aten::normal_'), (904, 'aten::full'), (905, 'aten::_softmax'),
(906, 'aten::bmm');
-- The scores of forward are freed, the softmax weights are kept. The failed request follows the gradient of the
-- weights, which is freed when the step unwinds.
INSERT INTO allocation (
  run_id, rank, pass, sequence, device, address, requested_bytes, allocated_bytes, alloc_ns, free_ns, free_sequence,
  stream, thread, step, phase_id, op_id, category, category_source
) VALUES
(14, 0, 'memory', 0, 'cuda', 1, 16777216, 16777216, 0, NULL, NULL, 0, 0, -1, NULL, 903, 'input', 'tag'),
(14, 0, 'memory', 1, 'cuda', 2, 16777216, 16777216, 1, NULL, NULL, 0, 0, -1, NULL, 903, 'input', 'tag'),
(14, 0, 'memory', 2, 'cuda', 3, 34359738368, 34359738368, 2, 6, 6, 0, 0, 0, 901, 906, 'activation', 'lifetime'),
(14, 0, 'memory', 3, 'cuda', 4, 4294967296, 4294967296, 3, NULL, NULL, 0, 0, 0, 901, 904, 'unknown', ''),
(14, 0, 'memory', 4, 'cuda', 5, 34359738368, 34359738368, 4, 9, 9, 0, 0, 0, 901, 905, 'activation', 'lifetime'),
(14, 0, 'memory', 7, 'cuda', 6, 34359738368, 34359738368, 7, 8, 9, 0, 0, 0, 902, 906, 'unknown', '');
