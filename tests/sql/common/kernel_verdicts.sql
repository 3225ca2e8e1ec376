-- SPDX-License-Identifier: Apache-2.0
-- For the peaks of peaks.sql (25 GB/s, fp32 100 and bf16 200 GFLOP/s), moved to a GPU with the limits of an H100: run
-- 50 with a kernel for each verdict in a phase of its own, over two steps; runs 51 to 54 lack something: operators, the
-- pass trace, the limits of the device, launch configurations. Runs 21, 41 and 44 have collectives (distributed.sql).
INSERT INTO device (
  device_id, uuid, kind, name, memory_bytes, multiprocessors, multiprocessor_threads, multiprocessor_blocks,
  multiprocessor_registers, multiprocessor_shared_bytes, reserved_shared_bytes
) VALUES (9, 'gpu-9', 'cuda', 'NVIDIA H100 80GB HBM3', 2000, 132, 2048, 32, 65536, 233472, 1024);
UPDATE rank SET device_id = 9 WHERE run_id IN (2, 5, 6);
CREATE TEMP TABLE observed_run AS SELECT * FROM run WHERE run_id = 1;
UPDATE observed_run SET family = '', device_kind = 'cuda';
WITH given (run_id) AS (VALUES (50), (51), (52), (53), (54))
INSERT INTO run (
  run_id, invocation_id, sequence, plugin_id, workload, case_key, settings_key, plan_key, suite, suite_case, label,
  repetition, ranks, device_kind, timing, sync, warmup, steps, passes, seed, status, detail, verification, failed_pass,
  failed_phase, started_at
)
SELECT
  g.run_id,
  invocation_id,
  g.run_id,
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
  device_kind,
  timing,
  sync,
  warmup,
  steps,
  passes,
  seed,
  status,
  detail,
  verification,
  failed_pass,
  failed_phase,
  started_at
FROM observed_run
CROSS JOIN given g;
INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr) VALUES
(50, 0, 'trace', 1, 'h', 'ok', 9, '', ''), (50, 0, 'ops', 1, 'h', 'ok', 9, '', ''),
(51, 0, 'trace', 1, 'h', 'ok', 9, '', ''), (52, 0, 'ops', 1, 'h', 'ok', 9, '', ''),
(53, 0, 'ops', 1, 'h', 'ok', 2, '', ''), (54, 0, 'trace', 1, 'h', 'ok', 9, '', '');
INSERT INTO string (string_id, text) VALUES
(700, 'memory'), (701, 'compute'), (702, 'precision'), (703, 'launch'), (704, 'tail'), (705, 'few'), (706, 'occupancy'),
(707, 'short'), (708, 'persistent'), (709, 'parts'), (710, 'no rule'), (711, 'no peak'), (712, 'slow'),
(720, 'void add_kernel<float>(float*)'), (721, 'gemm_bf16'), (722, 'gemm_fp32'), (723, 'spin'), (724, 'mul_kernel'),
(730, 'layer_0/linear'), (731, 'layer_1/linear'), (740, 'aten::add'), (741, 'aten::mm'), (742, 'aten::mul'),
(743, 'mylib::scale'), (744, 'aten::bmm'), (750, 'f32[9]'), (751, 'bf16[9, 9] bf16[9, 9]'),
(752, 'f32[9, 9] f32[9, 9]'), (753, 'f16[9, 9, 9]'), (754, 'f32[1]')
ON CONFLICT DO NOTHING;
INSERT INTO scope_path (scope_id, module, depth) VALUES (730, 'layer/linear', 2), (731, 'layer/linear', 2);
INSERT INTO kernel_class (name_id, short_name, class) VALUES
(720, 'add_kernel', 'elementwise'), (721, 'gemm_bf16', 'matmul'), (722, 'gemm_fp32', 'matmul'), (723, 'spin', 'other'),
(724, 'mul_kernel', 'elementwise');

-- 0: 10 waves of 528 blocks of 512 threads. 1: one wave. 2: 1.1 waves of 264 blocks. 3: 8 blocks. 4: 5 blocks of 2
-- warps on each multiprocessor, 100 waves.
WITH given (launch_config, grid_x, block_x, dynamic_shared_bytes, registers) AS (
  VALUES
  (0, 5280, 512, 0, 32), (1, 264, 1024, 0, 32), (2, 290, 1024, 0, 32), (3, 8, 128, 0, 32), (4, 66000, 64, 40960, 32)
)
INSERT INTO launch_config
SELECT
  k.run_id,
  0,
  k.pass,
  g.launch_config,
  g.grid_x,
  1,
  1,
  g.block_x,
  1,
  1,
  0,
  g.dynamic_shared_bytes,
  g.registers
FROM given g
CROSS JOIN rank k
WHERE k.run_id BETWEEN 50 AND 53;
INSERT INTO step_activity (
  run_id, rank, pass, step, phase, warmup, start_ns, end_ns, kernels, kernel_ns, compute_ns, comm_ns, overlap_ns,
  exposed_comm_ns, copy_ns, exposed_copy_ns, idle_ns, gaps, longest_gap_ns
) VALUES
(50, 0, 'trace', 1, 'launch', 0, 0, 4000000, 1000, 2000000, 2000000, 0, 0, 0, 0, 0, 2000000, 999, 3000),
(50, 0, 'trace', 1, 'short', 0, 4000000, 5000000, 300, 900000, 900000, 0, 0, 0, 0, 0, 100000, 299, 1000),
(50, 0, 'ops', 1, 'short', 0, 4000000, 9000000, 300, 900000, 900000, 0, 0, 0, 0, 0, 4100000, 299, 9000),
(52, 0, 'ops', 1, 'short', 0, 4000000, 9000000, 300, 900000, 900000, 0, 0, 0, 0, 0, 4100000, 299, 9000);
WITH given (
  run_id, sequence, phase_id, name_id, arguments_id, kind, dtype, calls, flops, bytes, kernels, device_ns
) AS (
  VALUES
  (50, 0, 700, 740, 750, 'elementwise', 'f32', 4, 1e6, 25e6, 4, 5000000),
  (50, 1, 701, 741, 751, 'matmul', 'bf16', 2, 1e9, 1e6, 2, 12500000),
  (50, 2, 702, 741, 752, 'matmul', 'f32', 2, 1e9, 1e6, 2, 25000000),
  (50, 3, 703, 742, 754, 'elementwise', 'f32', 2000, 1.0, 12.0, 2000, 4000000),
  (50, 4, 709, 741, 751, 'matmul', 'bf16', 2, 1e9, 1e6, 4, 12500000),
  (50, 5, 710, 743, 750, 'unknown', '', 2, NULL, NULL, 2, 2000000),
  (50, 6, 711, 744, 753, 'matmul', 'f16', 2, 1e9, 1e6, 2, 2000000),
  (50, 7, 712, 741, 751, 'matmul', 'bf16', 2, 1e8, 1e6, 2, 10000000),
  (52, 0, 707, 742, 754, 'elementwise', 'f32', 600, 1.0, 12.0, 600, 1800000),
  (53, 0, 712, 741, 751, 'matmul', 'bf16', 2, 1e8, 1e6, 2, 10000000)
)
INSERT INTO op_work
SELECT
  run_id,
  0,
  'ops',
  sequence,
  phase_id,
  730,
  name_id,
  arguments_id,
  0,
  kind,
  dtype,
  2,
  calls,
  flops,
  flops,
  flops,
  bytes,
  device_ns,
  kernels,
  device_ns
FROM given;
-- The same operator in another layer is in the same row of the views.
UPDATE op_work SET calls = 2, device_ns = 2500000 WHERE run_id = 50 AND sequence = 0;
INSERT INTO op_work
SELECT
  run_id,
  rank,
  pass,
  8,
  phase_id,
  731,
  name_id,
  shapes_id,
  recomputed,
  kind,
  dtype,
  steps,
  calls,
  flops,
  model_flops,
  masked_model_flops,
  bytes,
  host_ns,
  kernels,
  device_ns
FROM op_work
WHERE run_id = 50 AND sequence = 0;
INSERT INTO kernel_total (
  run_id, rank, pass, sequence, kind, phase_id, scope_id, name_id, attribution, steps, calls, bytes, total_ns, min_ns,
  max_ns, launch_config, op_work
) VALUES
(50, 0, 'trace', 0, 'kernel', 700, 730, 720, 'launch', 2, 2, 0, 2000000, 1, 1, 0, NULL),
(50, 0, 'ops', 0, 'kernel', 700, 730, 720, 'launch', 2, 2, 0, 2500000, 1, 1, 0, 0),
(50, 0, 'ops', 1, 'kernel', 700, 731, 720, 'launch', 2, 2, 0, 2500000, 1, 1, 0, 8),
(50, 0, 'ops', 2, 'kernel', 701, 730, 721, 'launch', 2, 2, 0, 11500000, 1, 1, 1, 1),
(50, 0, 'ops', 3, 'kernel', 701, 730, 724, 'launch', 2, 2, 0, 1000000, 1, 1, 0, 1),
(50, 0, 'ops', 4, 'kernel', 702, 730, 722, 'launch', 2, 2, 0, 25000000, 1, 1, 0, 2),
(50, 0, 'ops', 5, 'kernel', 703, 730, 724, 'launch', 2, 2000, 0, 4000000, 1, 1, 3, 3),
(50, 0, 'ops', 6, 'kernel', 704, NULL, 723, 'launch', 2, 2, 0, 400000, 1, 1, 2, NULL),
(50, 0, 'ops', 7, 'kernel', 705, NULL, 723, 'launch', 2, 2, 0, 400000, 1, 1, 3, NULL),
(50, 0, 'ops', 8, 'kernel', 706, NULL, 723, 'launch', 2, 2, 0, 400000, 1, 1, 4, NULL),
(50, 0, 'ops', 9, 'kernel', 707, NULL, 723, 'launch', 2, 600, 0, 1800000, 1, 1, 0, NULL),
(50, 0, 'ops', 10, 'kernel', 708, NULL, 723, 'launch', 2, 2, 0, 400000, 1, 1, 1, NULL),
(50, 0, 'ops', 11, 'kernel', 709, 730, 721, 'launch', 2, 2, 0, 7500000, 1, 1, 0, 4),
(50, 0, 'ops', 12, 'kernel', 709, 730, 724, 'launch', 2, 2, 0, 5000000, 1, 1, 0, 4),
(50, 0, 'ops', 13, 'kernel', 710, 730, 723, 'launch', 2, 2, 0, 2000000, 1, 1, 0, 5),
(50, 0, 'ops', 14, 'kernel', 711, 730, 721, 'launch', 2, 2, 0, 2000000, 1, 1, 0, 6),
(50, 0, 'ops', 15, 'kernel', 712, 730, 721, 'launch', 2, 2, 0, 10000000, 1, 1, 0, 7),
(50, 0, 'ops', 16, 'memcpy', 712, 730, 723, 'launch', 2, 2, 64, 10000000, 1, 1, NULL, 7),
(51, 0, 'trace', 0, 'kernel', 700, 730, 720, 'launch', 2, 2, 0, 2000000, 1, 1, 0, NULL),
(52, 0, 'ops', 0, 'kernel', 707, 730, 724, 'launch', 2, 600, 0, 1800000, 1, 1, 0, 0),
(53, 0, 'ops', 0, 'kernel', 712, 730, 721, 'launch', 2, 2, 0, 10000000, 1, 1, 0, 0),
(54, 0, 'trace', 0, 'kernel', 700, 730, 720, 'launch', 2, 2, 0, 2000000, 1, 1, NULL, NULL),
(21, 0, 'trace', 9, 'kernel', 104, NULL, 110, 'phase', 2, 3, 0, 1200000, 1, 1, 0, NULL),
(41, 0, 'trace', 9, 'kernel', 104, NULL, 110, 'phase', 2, 3, 0, 1200000, 1, 1, 0, NULL),
(44, 0, 'trace', 9, 'kernel', 103, NULL, 110, 'phase', 2, 3, 0, 1200000, 1, 1, 0, NULL);
-- Rank 1 of run 44 is late.
UPDATE collective SET start_ns = end_ns - 50000 WHERE run_id = 44 AND rank = 1;
