-- SPDX-License-Identifier: Apache-2.0
-- Profiled runs of the Transformer, for cases with the line `-- with: collected`: 11 a training step and 12 a forward
-- pass on a GPU with kernel records (12 only in the pass ops); 13 and 16 memory on a GPU; 14 all passes on a CPU; 15
-- out of memory on a GPU.
WITH given (run_id, suite, suite_case, device_kind, passes, status) AS (
  VALUES
  (11, 'cs336', 'kernels', 'cuda', 'time,trace,ops', 'ok'), (12, 'cs336', 'kernels', 'cuda', 'time,ops', 'ok'),
  (13, 'cs336', 'memory', 'cuda', 'memory', 'ok'), (14, 'quick', 'model', 'cpu', 'time,memory,trace,ops', 'ok'),
  (15, 'cs336', 'memory', 'cuda', 'memory', 'oom'), (16, 'cs336', 'memory', 'cuda', 'memory', 'ok')
)
INSERT INTO run (
  run_id,
  invocation_id,
  sequence,
  plugin_id,
  workload,
  family,
  case_key,
  settings_key,
  plan_key,
  suite,
  suite_case,
  label,
  repetition, ranks, device_kind, timing, sync, warmup, steps, passes, seed, status, detail, verification, failed_pass,
  failed_phase, started_at
)
SELECT
  run_id,
  2,
  run_id,
  1,
  'transformer_lm',
  'transformer',
  'c' || run_id,
  's' || run_id,
  'q' || run_id,
  suite,
  suite_case,
  '',
  0,
  1,
  device_kind,
  'sync',
  'step',
  1,
  2,
  passes,
  0,
  status,
  CASE status WHEN 'ok' THEN '' ELSE 'CUDA out of memory: asked for 1.86 GiB' END,
  'passed',
  '',
  '',
  '2026-01-03T00:00:' || run_id || '.000Z'
FROM given;
WITH given (run_id, context, mode, autocast) AS (
  VALUES
  (11, 256, 'train', 0), (12, 256, 'forward', 0), (13, 256, 'train', 0), (14, 64, 'train', 0), (15, 512, 'train', 0),
  (16, 256, 'forward', 0)
)
INSERT INTO param (run_id, name, type, value)
SELECT
  run_id,
  'size',
  'text',
  'small'
FROM given
UNION ALL
SELECT
  run_id,
  'context',
  'int',
  context
FROM given
UNION ALL
SELECT
  run_id,
  'batch',
  'int',
  4
FROM given
UNION ALL
SELECT
  run_id,
  'dtype',
  'text',
  'fp32'
FROM given
UNION ALL
SELECT
  run_id,
  'autocast',
  'bool',
  autocast
FROM given
UNION ALL
SELECT
  run_id,
  'mode',
  'text',
  mode
FROM given;
INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, resident_peak_bytes, stdout, stderr) VALUES
(11, 0, 'time', 1, 'h', 'ok', 2, 10, '', ''), (11, 0, 'trace', 1, 'h', 'ok', 2, 10, '', ''),
(11, 0, 'ops', 1, 'h', 'ok', 2, 10, '', ''), (12, 0, 'time', 1, 'h', 'ok', 2, 10, '', ''),
(12, 0, 'trace', 1, 'h', 'ok', 2, 10, '', ''), (12, 0, 'ops', 1, 'h', 'ok', 2, 10, '', ''),
(13, 0, 'memory', 1, 'h', 'ok', 2, 10, '', ''), (14, 0, 'time', 1, 'h', 'ok', 1, 10, '', ''),
(14, 0, 'memory', 1, 'h', 'ok', 1, 10, '', ''), (14, 0, 'trace', 1, 'h', 'ok', 1, 10, '', ''),
(14, 0, 'ops', 1, 'h', 'ok', 1, 10, '', ''), (15, 0, 'memory', 1, 'h', 'oom', 2, 10, '', ''),
(16, 0, 'memory', 1, 'h', 'ok', 2, 10, '', '');
UPDATE rank SET trace_status = 'events only' WHERE run_id = 12 AND pass = 'trace';
INSERT INTO dropped_record (run_id, rank, pass, sequence, source, count, detail) VALUES
(12, 0, 'trace', 0, 'cuda', -1, 'another CUPTI client holds the subscriber: nsys'),
(11, 0, 'trace', 0, 'cuda', 7, 'buffer full');

INSERT INTO string (string_id, text) VALUES
(1, 'forward'), (2, 'backward'), (3, 'optimizer'), (10, 'sgemm_128x64_tn'),
(11, 'void softmax_warp_forward<float>(float*)'), (12, 'void elementwise_kernel<add>(int)'),
(13, 'void multi_tensor_apply_kernel<adam>()'), (14, 'memcpy host to device'), (15, 'mystery_kernel'),
(20, 'block_0/attention/scores'), (21, 'block_1/attention/scores'), (22, 'block_0/attention/softmax'),
(23, 'block_0/attention/values'), (24, 'adamw'), (25, 'block_0/feed_forward'), (26, 'block_0'),
(27, 'block_0/attention'), (30, 'aten::bmm'), (31, 'aten::softmax'), (32, 'BmmBackward0'), (33, 'attention'),
(34, 'scores'), (35, 'softmax'), (36, 'values'), (37, 'feed_forward'), (40, 'NaiveAttention::multiply'),
(41, 'at::_ops::bmm::call');
INSERT INTO kernel_class (name_id, short_name, class) VALUES
(10, 'sgemm_128x64_tn', 'matmul'), (11, 'softmax_warp_forward', 'softmax'),
(12, 'elementwise_kernel add', 'elementwise'), (13, 'multi_tensor_apply_kernel', 'optimizer'),
(14, 'memcpy host to device', 'copy'), (15, 'mystery_kernel', 'other');
INSERT INTO scope_path (scope_id, module, depth) VALUES
(20, 'block/attention/scores', 3), (21, 'block/attention/scores', 3), (22, 'block/attention/softmax', 3),
(23, 'block/attention/values', 3), (24, 'adamw', 1), (25, 'block/feed_forward', 2), (26, 'block', 1),
(27, 'block/attention', 2);

-- Kernel totals over the measured steps 1 and 2.
INSERT INTO kernel_total (
  run_id, rank, pass, sequence, kind, phase_id, scope_id, name_id, attribution, steps, calls, bytes, total_ns, min_ns,
  max_ns
) VALUES
(11, 0, 'trace', 0, 'kernel', 1, 20, 10, 'launch', 2, 2, 0, 200000, 90000, 110000),
(11, 0, 'trace', 1, 'kernel', 1, 21, 10, 'launch', 2, 2, 0, 200000, 80000, 120000),
(11, 0, 'trace', 2, 'kernel', 1, 22, 11, 'launch', 2, 4, 0, 300000, 70000, 80000),
(11, 0, 'trace', 3, 'kernel', 1, 23, 10, 'launch', 2, 4, 0, 300000, 70000, 80000),
(11, 0, 'trace', 4, 'kernel', 2, 20, 10, 'autograd', 2, 8, 0, 1600000, 150000, 250000),
(11, 0, 'trace', 5, 'kernel', 2, NULL, 12, 'phase', 2, 4, 0, 400000, 100000, 100000),
(11, 0, 'trace', 6, 'kernel', 3, 24, 13, 'launch', 2, 2, 0, 900000, 440000, 460000),
(11, 0, 'trace', 7, 'memcpy', NULL, NULL, 14, 'none', 2, 2, 2048, 100000, 50000, 50000),
(11, 0, 'trace', 8, 'kernel', 1, 25, 12, 'launch', 2, 2, 0, 100000, 50000, 50000),
(11, 0, 'trace', 9, 'kernel', 2, 25, 15, 'autograd', 2, 2, 0, 40000, 20000, 20000),
(11, 0, 'ops', 0, 'kernel', 1, 20, 10, 'launch', 2, 2, 0, 999999, 1, 999999),
(12, 0, 'ops', 0, 'kernel', 1, 20, 10, 'launch', 2, 4, 0, 600000, 140000, 160000),
(12, 0, 'ops', 1, 'kernel', 1, 22, 11, 'launch', 2, 4, 0, 200000, 50000, 50000);
INSERT INTO step_activity (
  run_id, rank, pass, step, phase, warmup, start_ns, end_ns, kernels, kernel_ns, compute_ns, comm_ns, overlap_ns,
  exposed_comm_ns, copy_ns, exposed_copy_ns, idle_ns, gaps, longest_gap_ns
) VALUES
(11, 0, 'trace', 0, 'step', 1, 0, 9000000, 16, 2000000, 2000000, 0, 0, 0, 50000, 50000, 6950000, 9, 5000000),
(11, 0, 'trace', 1, 'forward', 0, 10000000, 10600000, 7, 550000, 550000, 0, 0, 0, 0, 0, 50000, 1, 50000),
(11, 0, 'trace', 1, 'backward', 0, 10600000, 11700000, 7, 1020000, 1020000, 0, 0, 0, 0, 0, 80000, 2, 60000),
(11, 0, 'trace', 1, 'optimizer', 0, 11700000, 12200000, 1, 450000, 450000, 0, 0, 0, 50000, 50000, 0, 0, 0),
(11, 0, 'trace', 1, 'step', 0, 10000000, 12200000, 16, 2020000, 2020000, 0, 0, 0, 50000, 50000, 130000, 3, 60000),
(11, 0, 'trace', 2, 'forward', 0, 20000000, 20600000, 7, 550000, 550000, 0, 0, 0, 0, 0, 50000, 3, 20000),
(11, 0, 'trace', 2, 'backward', 0, 20600000, 21700000, 7, 1020000, 1020000, 0, 0, 0, 0, 0, 80000, 2, 70000),
(11, 0, 'trace', 2, 'optimizer', 0, 21700000, 22200000, 1, 450000, 450000, 0, 0, 0, 50000, 50000, 0, 0, 0),
(11, 0, 'trace', 2, 'step', 0, 20000000, 22200000, 16, 2020000, 2020000, 0, 0, 0, 50000, 50000, 130000, 5, 70000),
(12, 0, 'ops', 1, 'forward', 0, 10000000, 10800000, 4, 400000, 400000, 0, 0, 0, 0, 0, 400000, 2, 300000),
(12, 0, 'ops', 1, 'step', 0, 10000000, 10800000, 4, 400000, 400000, 0, 0, 0, 0, 0, 400000, 2, 300000);
INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, device_ns) VALUES
(11, 0, 'trace', 0, 'step', 1, 0, 1, 0, 9100000, 9050000),
(11, 0, 'trace', 1, 'step', 0, 0, 1, 9900000, 2400000, 2230000),
(11, 0, 'trace', 2, 'step', 0, 0, 1, 19900000, 2400000, 2300000),
(12, 0, 'ops', 1, 'step', 0, 0, 1, 9900000, 900000, 810000),
(11, 0, 'time', 1, 'step', 0, 0, 1, 9900000, 2300000, 2180000), (14, 0, 'trace', 0, 'step', 1, 0, 1, 0, 5000000, NULL),
(14, 0, 'trace', 1, 'step', 0, 0, 1, 6000000, 4000000, NULL),
(14, 0, 'trace', 2, 'step', 0, 0, 1, 11000000, 4200000, NULL),
(14, 0, 'ops', 1, 'step', 0, 0, 1, 6000000, 6000000, NULL), (13, 0, 'memory', 1, 'step', 0, 0, 1, 1900, 3000, 3000),
(14, 0, 'memory', 1, 'step', 0, 0, 1, 1900, 3000, NULL), (16, 0, 'memory', 1, 'step', 0, 0, 1, 1900, 3000, 3000);
INSERT INTO statistic (
  run_id, phase, clock, count, excluded, all_throttled, mean_ns, std_ns, median_ns, min_ns, max_ns
) VALUES
(11, 'step', 'device', 2, 0, 0, 2200000, 20000, 2200000, 2180000, 2220000),
(12, 'step', 'device', 2, 0, 0, 790000, 9000, 790000, 780000, 800000),
(14, 'step', 'host', 2, 0, 0, 4000000, 100000, 4000000, 3900000, 4100000);
INSERT INTO overhead (run_id, rank, pass, phase, steps, observed_ns, time_ns, ratio) VALUES
(11, 0, 'trace', 'step', 2, 2400000, 2300000, 1.043478), (11, 0, 'trace', 'forward', 2, 600000, 610000, 0.983607),
(11, 0, 'ops', 'step', 2, 3450000, 2300000, 1.5), (14, 0, 'trace', 'step', 2, 4040000, 4000000, 1.01),
(14, 0, 'memory', 'step', 2, 3600000, 4000000, 0.9);
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(11, 0, 'trace', 0, 'run', -1, '', 'attention_scores_flops', 8e8, 'FLOP'),
(11, 0, 'trace', 1, 'run', -1, '', 'attention_softmax_flops', 2e8, 'FLOP'),
(11, 0, 'trace', 2, 'run', -1, '', 'attention_values_flops', 1e9, 'FLOP'),
(12, 0, 'ops', 0, 'run', -1, '', 'attention_scores_flops', 6e8, 'FLOP'),
(12, 0, 'ops', 1, 'run', -1, '', 'attention_softmax_flops', 2e7, 'FLOP'),
(11, 0, 'time', 0, 'run', -1, '', 'attention_scores_flops', 8e8, 'FLOP'),
(13, 0, 'memory', 0, 'run', -1, '', 'residual_stream_bytes', 3145728.0, 'B');
INSERT INTO gpu_sample (run_id, rank, pass, step, time_ns, sm_clock_mhz, throttle_reasons) VALUES
(11, 0, 'trace', 0, 9100000, 1980, 0), (11, 0, 'trace', 1, 12300000, 1980, 0), (11, 0, 'trace', 2, 22300000, 1410, 0),
(11, 0, 'time', 1, 1, 900, 0);
INSERT INTO gpu_utilization (
  run_id, rank, pass, start_ns, end_ns, sm_utilization, tensor_utilization, dram_utilization, kernel_time,
  pcie_sent_bytes_per_s, pcie_received_bytes_per_s
) VALUES (11, 0, 'trace', 9000000, 12000000, 0.9, 0.75, 0.5, 1, 1e9, 5e8),
(11, 0, 'trace', 12000000, 22000000, NULL, NULL, NULL, 0.25, NULL, NULL);
INSERT INTO kernel_outlier (
  run_id, rank, pass, sequence, name_id, step, phase_id, scope_id, duration_ns, group_size, group_median_ns, deviation,
  first_use, concurrent, gap_before_ns, sm_clock_mhz
) VALUES
(11, 0, 'trace', 3, 10, 1, 1, 20, 1900000, 96, 390000, 31.5, 1, 0, 20000, 1980),
(11, 0, 'trace', 40, 10, 2, 2, NULL, 800000, 96, 390000, 12.5, 0, 2, 70000, 1410),
(11, 0, 'trace', 41, 12, 2, NULL, NULL, 50000, 10, 20000, 9, 0, 1, 0, NULL),
(11, 0, 'trace', 42, 12, 2, 2, NULL, 60000, 10, 20000, 9, 0, 0, 0, 1980),
(11, 0, 'trace', 43, 12, 2, 2, NULL, 55000, 10, 20000, 8.5, 0, 3, 0, 1980);

-- Events of one step, for the timeline.
INSERT INTO launch_config (
  run_id, rank, pass, launch_config, grid_x, grid_y, grid_z, block_x, block_y, block_z, static_shared_bytes,
  dynamic_shared_bytes, registers
) VALUES (11, 0, 'trace', 0, 64, 2, 1, 256, 1, 1, 1024, 0, 64);
INSERT INTO gpu_activity (
  run_id, rank, pass, sequence, name_id, start_ns, end_ns, stream, correlation_id, step, phase_id, scope_id,
  attribution, launch_config, bytes
) VALUES
(11, 0, 'trace', 0, 10, 10000000, 10100000, 0, 1, 1, 1, 20, 'launch', 0, NULL),
(11, 0, 'trace', 1, 10, 20000000, 20100000, 0, 2, 2, 1, 20, 'launch', 0, NULL),
(11, 0, 'trace', 2, 11, 20100000, 20200000, 0, 3, 2, 1, 22, 'launch', 0, NULL),
(11, 0, 'trace', 3, 12, 20600000, 20700000, 1, 4, 2, 2, NULL, 'phase', 0, NULL),
(11, 0, 'trace', 4, 14, 22150000, 22200000, 0, 9, 2, NULL, NULL, 'none', NULL, 1024);
INSERT INTO "range" (
  run_id, rank, pass, sequence, parent, kind, name_id, scope_id, step, phase_id, thread, start_ns, end_ns
) VALUES
(11, 0, 'trace', 0, NULL, 'phase', 1, NULL, 1, 1, 0, 9900000, 9990000),
(11, 0, 'trace', 1, NULL, 'phase', 1, NULL, 2, 1, 0, 19900000, 20000000),
(11, 0, 'trace', 2, 1, 'scope', 26, 26, 2, 1, 0, 19910000, 19990000),
(11, 0, 'trace', 3, 2, 'scope', 33, 27, 2, 1, 0, 19920000, 19980000),
(11, 0, 'trace', 4, NULL, 'phase', 2, NULL, 2, 2, 0, 20000000, 21000000),
-- The CPU run: in steps 1 and 2, a phase with block_0, which contains attention (with scores) and a feed-forward layer.
(14, 0, 'trace', 0, NULL, 'scope', 26, 26, 0, 1, 0, 0, 5000000),
(14, 0, 'trace', 1, NULL, 'phase', 1, NULL, 1, 1, 0, 6000000, 9000000),
(14, 0, 'trace', 2, 1, 'scope', 26, 26, 1, 1, 0, 6000000, 8900000),
(14, 0, 'trace', 3, 2, 'scope', 33, 27, 1, 1, 0, 6100000, 8100000),
(14, 0, 'trace', 4, 3, 'scope', 34, 20, 1, 1, 0, 6200000, 7200000),
(14, 0, 'trace', 5, 3, 'scope', 35, 22, 1, 1, 0, 7200000, 7700000),
(14, 0, 'trace', 6, 2, 'scope', 37, 25, 1, 1, 0, 8200000, 8700000),
(14, 0, 'trace', 7, NULL, 'phase', 1, NULL, 2, 1, 0, 11000000, 14000000),
(14, 0, 'trace', 8, 7, 'scope', 26, 26, 2, 1, 0, 11000000, 13900000),
(14, 0, 'trace', 9, 8, 'scope', 33, 27, 2, 1, 0, 11100000, 13100000),
(14, 0, 'trace', 10, 9, 'scope', 34, 20, 2, 1, 0, 11200000, 12200000),
(14, 0, 'ops', 0, NULL, 'phase', 1, NULL, 1, 1, 0, 6000000, 9000000),
(14, 0, 'ops', 1, 0, 'scope', 26, 26, 1, 1, 0, 6000000, 9999999),
(13, 0, 'memory', 0, NULL, 'phase', 1, NULL, 1, 1, 0, 1900, 3000),
(13, 0, 'memory', 1, NULL, 'phase', 2, NULL, 1, 2, 0, 3000, 4500),
(14, 0, 'memory', 0, NULL, 'phase', 1, NULL, 1, 1, 0, 1900, 3000),
(16, 0, 'memory', 0, NULL, 'phase', 1, NULL, 1, 1, 0, 1900, 3000);
INSERT INTO op (
  run_id, rank, pass, sequence, parent, name_id, backward, start_ns, end_ns, self_ns, thread, step, phase_id, scope_id,
  attribution
) VALUES
(14, 0, 'ops', 0, NULL, 30, 0, 6100000, 6900000, 800000, 0, 1, 1, 20, 'launch'),
(14, 0, 'ops', 1, 0, 31, 0, 6200000, 6300000, 100000, 0, 1, 1, 20, 'launch');
INSERT INTO op_total (
  run_id, rank, pass, sequence, phase_id, scope_id, name_id, backward, steps, calls, host_ns, self_host_ns, kernels,
  device_ns
) VALUES
(14, 0, 'ops', 0, 1, 20, 30, 0, 2, 4, 2000000, 1500000, 0, 0),
(14, 0, 'ops', 1, 1, 23, 30, 0, 2, 4, 1000000, 500000, 0, 0),
(14, 0, 'ops', 2, 1, 22, 31, 0, 2, 2, 600000, 600000, 0, 0),
(14, 0, 'ops', 3, 2, 20, 32, 1, 2, 4, 4000000, 1400000, 0, 0),
(14, 0, 'ops', 4, 2, 20, 30, 0, 2, 8, 2600000, 2600000, 0, 0),
(12, 0, 'ops', 0, 1, 20, 30, 0, 2, 4, 80000, 60000, 4, 600000);

-- Memory: runs 13 and 16 on a GPU, 14 on a CPU.
INSERT INTO memory_phase (
  run_id, rank, pass, device, step, phase, warmup, begin_allocated_bytes, end_allocated_bytes, peak_requested_bytes,
  peak_allocated_bytes, peak_active_bytes, peak_reserved_bytes, peak_ns
) VALUES
(13, 0, 'memory', 'cuda', -1, 'step', 0, 0, 3000, 2990, 3000, 3000, 4096, 900),
(13, 0, 'memory', 'cuda', 0, 'forward', 1, 3000, 7000, 6900, 7100, 7100, 8192, 1500),
(13, 0, 'memory', 'cuda', 0, 'step', 1, 3000, 3000, 9500, 9800, 9800, 12288, 1600),
(13, 0, 'memory', 'cuda', 1, 'forward', 0, 3000, 7000, 6950, 7100, 7100, 12288, 2900),
(13, 0, 'memory', 'cuda', 1, 'backward', 0, 7000, 4000, 8100, 8200, 8300, 12288, 3500),
(13, 0, 'memory', 'cuda', 1, 'step', 0, 3000, 4000, 8100, 8200, 8300, 12288, 3500),
(13, 0, 'memory', 'cuda', 2, 'forward', 0, 3000, 7000, 7050, 7000, 7100, 12288, 5900),
(13, 0, 'memory', 'cuda', 2, 'step', 0, 3000, 4000, 8000, 8100, 8400, 12288, 6500),
(16, 0, 'memory', 'cuda', 1, 'forward', 0, 1000, 1000, 1890, 2000, 2000, 4096, 2900),
(16, 0, 'memory', 'cuda', 1, 'step', 0, 1000, 1000, 1890, 2000, 2000, 4096, 2900),
(14, 0, 'memory', 'cpu', 1, 'forward', 0, 500, 900, 900, 900, 900, 900, 2900),
(14, 0, 'memory', 'cpu', 1, 'step', 0, 500, 500, 900, 900, 900, 900, 2900);
INSERT INTO memory_phase_category (run_id, rank, pass, device, step, phase, category, bytes) VALUES
(13, 0, 'memory', 'cuda', -1, 'step', 'parameter', 1000),
(13, 0, 'memory', 'cuda', -1, 'step', 'optimizer_state', 2000),
(13, 0, 'memory', 'cuda', 0, 'forward', 'parameter', 1000),
(13, 0, 'memory', 'cuda', 0, 'forward', 'optimizer_state', 2000),
(13, 0, 'memory', 'cuda', 0, 'forward', 'activation', 4000), (13, 0, 'memory', 'cuda', 0, 'forward', 'workspace', 100),
(13, 0, 'memory', 'cuda', 0, 'step', 'parameter', 1000), (13, 0, 'memory', 'cuda', 0, 'step', 'gradient', 900),
(13, 0, 'memory', 'cuda', 0, 'step', 'optimizer_state', 2000), (13, 0, 'memory', 'cuda', 0, 'step', 'activation', 5800),
(13, 0, 'memory', 'cuda', 0, 'step', 'workspace', 100), (13, 0, 'memory', 'cuda', 1, 'forward', 'parameter', 1000),
(13, 0, 'memory', 'cuda', 1, 'forward', 'optimizer_state', 2000),
(13, 0, 'memory', 'cuda', 1, 'forward', 'activation', 4000), (13, 0, 'memory', 'cuda', 1, 'forward', 'workspace', 100),
(13, 0, 'memory', 'cuda', 1, 'backward', 'parameter', 1000), (13, 0, 'memory', 'cuda', 1, 'backward', 'gradient', 900),
(13, 0, 'memory', 'cuda', 1, 'backward', 'optimizer_state', 2000),
(13, 0, 'memory', 'cuda', 1, 'backward', 'activation', 4200),
(13, 0, 'memory', 'cuda', 1, 'backward', 'workspace', 100), (13, 0, 'memory', 'cuda', 1, 'step', 'parameter', 1000),
(13, 0, 'memory', 'cuda', 1, 'step', 'gradient', 900), (13, 0, 'memory', 'cuda', 1, 'step', 'optimizer_state', 2000),
(13, 0, 'memory', 'cuda', 1, 'step', 'activation', 4200), (13, 0, 'memory', 'cuda', 1, 'step', 'workspace', 100),
(13, 0, 'memory', 'cuda', 2, 'forward', 'parameter', 1000),
(13, 0, 'memory', 'cuda', 2, 'forward', 'optimizer_state', 2000),
(13, 0, 'memory', 'cuda', 2, 'forward', 'activation', 3900), (13, 0, 'memory', 'cuda', 2, 'forward', 'workspace', 100),
(13, 0, 'memory', 'cuda', 2, 'step', 'parameter', 1000), (13, 0, 'memory', 'cuda', 2, 'step', 'gradient', 900),
(13, 0, 'memory', 'cuda', 2, 'step', 'optimizer_state', 2000), (13, 0, 'memory', 'cuda', 2, 'step', 'activation', 4100),
(13, 0, 'memory', 'cuda', 2, 'step', 'workspace', 100), (16, 0, 'memory', 'cuda', 1, 'forward', 'parameter', 1000),
(16, 0, 'memory', 'cuda', 1, 'forward', 'workspace', 1000), (16, 0, 'memory', 'cuda', 1, 'step', 'parameter', 1000),
(16, 0, 'memory', 'cuda', 1, 'step', 'workspace', 1000), (14, 0, 'memory', 'cpu', 1, 'forward', 'parameter', 500),
(14, 0, 'memory', 'cpu', 1, 'forward', 'activation', 300), (14, 0, 'memory', 'cpu', 1, 'forward', 'input', 50),
(14, 0, 'memory', 'cpu', 1, 'forward', 'unknown', 50), (14, 0, 'memory', 'cpu', 1, 'step', 'parameter', 500),
(14, 0, 'memory', 'cpu', 1, 'step', 'activation', 300), (14, 0, 'memory', 'cpu', 1, 'step', 'input', 50),
(14, 0, 'memory', 'cpu', 1, 'step', 'unknown', 50);
INSERT INTO memory_point (
  run_id, rank, pass, sequence, device, time_ns, step, phase_id, requested_bytes, allocated_bytes, active_bytes,
  reserved_bytes
) VALUES
(13, 0, 'memory', 0, 'cuda', 900, -1, NULL, 2990, 3000, 3000, 4096),
(13, 0, 'memory', 7, 'cuda', 2900, 1, 1, 6950, 7100, 7100, 12288),
(13, 0, 'memory', 9, 'cuda', 3500, 1, 2, 8100, 8200, 8300, 12288),
(13, 0, 'memory', 12, 'cuda', 4600, 1, NULL, 3900, 4000, 4000, 12288),
(16, 0, 'memory', 3, 'cuda', 2900, 1, 1, 1890, 2000, 2000, 4096),
(14, 0, 'memory', 3, 'cpu', 2900, 1, 1, 900, 900, 900, 900);
INSERT INTO allocation (
  run_id, rank, pass, sequence, device, address, requested_bytes, allocated_bytes, alloc_ns, free_ns, stream, thread,
  step, phase_id, scope_id, free_step, free_phase_id, op_id, category, category_source, stack
) VALUES
(
  13, 0, 'memory', 0, 'cuda', 4096, 1000, 1000, 100, NULL, 0, 0, -1, NULL, NULL, NULL, NULL, NULL, 'parameter', 'tag',
  NULL
),
(13, 0, 'memory', 5, 'cuda', 8192, 3950, 4000, 2500, 3600, 0, 0, 1, 1, 20, 1, 2, 30, 'activation', 'lifetime', 0),
(13, 0, 'memory', 6, 'cuda', 16384, 90, 100, 2600, 2700, 0, 0, 1, 1, 22, 1, 1, 31, 'workspace', 'lifetime', 1),
(13, 0, 'memory', 8, 'cuda', 20480, 190, 200, 3400, 4700, 0, 1, 1, NULL, NULL, 1, NULL, NULL, 'unknown', '', NULL),
(14, 0, 'memory', 2, 'cpu', 4096, 300, 300, 2500, 3000, 0, 0, 1, 1, 20, 1, 1, 30, 'activation', 'lifetime', NULL);
UPDATE allocation SET reusable_ns = 3900 WHERE run_id = 13 AND sequence = 5;
INSERT INTO segment (run_id, rank, pass, sequence, address, bytes, stream, alloc_ns, free_ns, free_sequence) VALUES
(13, 0, 'memory', 0, 4096, 16384, 0, 90, NULL, NULL), (13, 0, 'memory', 7, 20480, 4096, 7, 3300, 4800, 9);
INSERT INTO stack_frame (run_id, rank, pass, frame, module, "offset", function_id) VALUES
(13, 0, 'memory', 0, 'libtorch_cpu.so', 17, 41), (13, 0, 'memory', 1, 'transformer_lm.so', 18, 41),
(13, 0, 'memory', 2, 'transformer_lm.so', 255, 40), (13, 0, 'memory', 3, 'transformer_lm.so', 4096, NULL);
INSERT INTO stack (run_id, rank, pass, stack, depth, frame) VALUES
(13, 0, 'memory', 0, 0, 0), (13, 0, 'memory', 0, 1, 1), (13, 0, 'memory', 0, 2, 2), (13, 0, 'memory', 0, 3, 3),
(13, 0, 'memory', 1, 0, 0), (13, 0, 'memory', 1, 1, 3);
INSERT INTO device_memory (run_id, rank, pass, sequence, time_ns, stage, step, used_bytes, process_bytes) VALUES
(13, 0, 'memory', 0, 0, 'before cuda', -1, 500, NULL), (13, 0, 'memory', 1, 100, 'context created', -1, 1200, NULL),
(13, 0, 'memory', 2, 950, 'prepared', -1, 5400, 4800), (13, 0, 'memory', 3, 4700, 'after step', 1, 14000, 13400),
(13, 0, 'memory', 4, 9000, 'end', -1, 13900, 13300);
INSERT INTO out_of_memory (run_id, rank, pass, location, requested_bytes, free_bytes, peak_bytes) VALUES
(15, 0, 'memory', 'device', 2000000000, 150000000, 84000000000);

-- Work of the operators of run 14, without measured peaks.
INSERT INTO op_work (
  run_id, rank, pass, sequence, phase_id, scope_id, name_id, shapes_id, recomputed, kind, dtype, steps, calls, flops,
  model_flops, masked_model_flops, bytes, host_ns, kernels, device_ns
) VALUES
(14, 0, 'ops', 0, 1, 20, 30, NULL, 0, 'matmul', 'f32', 1, 4, 1e6, 1e6, 1e6, 20000, 1000000, 0, 0),
(14, 0, 'ops', 1, 1, 21, 30, NULL, 0, 'matmul', 'f32', 1, 4, 1e6, 1e6, 1e6, 20000, 1000000, 0, 0),
(14, 0, 'ops', 2, 2, 23, 30, NULL, 0, 'matmul', 'f32', 1, 2, 2e6, 2e6, 2e6, 40000, 800000, 0, 0),
(14, 0, 'ops', 3, 1, 22, 31, NULL, 0, 'softmax', 'f32', 1, 1, 5000, 5000, 5000, 8000, 300000, 0, 0),
(14, 0, 'ops', 4, 2, 23, 32, NULL, 0, 'overhead', '', 1, 2, 0, 0, 0, 0, 700000, 0, 0);
-- What autograd keeps in run 13: in two blocks, and in a checkpoint.
INSERT INTO string (string_id, text) VALUES
(900, 'MulBackward0'), (901, 'MmBackward0'), (902, 'f32[8, 4]'), (903, 'f32[4, 4]'), (904, 'blocks/0/norm'),
(905, 'blocks/1/norm'), (906, 'blocks'), (907, 'blocks/0'), (908, 'blocks/1');
INSERT INTO scope_path (scope_id, module, depth) VALUES
(904, 'blocks/*/norm', 3), (905, 'blocks/*/norm', 3), (906, 'blocks', 1), (907, 'blocks/*', 2), (908, 'blocks/*', 2);
INSERT INTO saved_tensor (
  run_id, rank, pass, sequence, step, nested, node_id, scope_id, type_id, bytes, storage, storage_bytes, counted_bytes,
  memory
) VALUES
(13, 0, 'memory', 0, 1, 0, 900, 904, 902, 128, 0, 128, 128, 'activation'),
(13, 0, 'memory', 1, 1, 0, 900, 904, 903, 64, 1, 64, 64, 'parameter'),
(13, 0, 'memory', 2, 1, 0, 901, 907, 902, 128, 0, 128, 0, 'activation'),
(13, 0, 'memory', 3, 1, 0, 900, 905, 902, 128, 2, 128, 128, 'activation'),
(13, 0, 'memory', 4, 1, 0, 901, 908, 902, 64, 3, 256, 256, 'activation'),
(13, 0, 'memory', 5, 1, 0, 901, NULL, 902, 128, 4, 128, 128, 'input'),
(13, 0, 'memory', 6, 1, 0, 901, NULL, 902, 32, 5, 32, 32, 'other'),
(13, 0, 'memory', 7, 1, 1, 900, 905, 902, 128, 0, 128, 128, 'activation');
