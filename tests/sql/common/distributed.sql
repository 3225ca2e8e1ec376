-- SPDX-License-Identifier: Apache-2.0
-- Multi-rank runs, for cases with the line `-- with: distributed`: 21 to 25 data-parallel training on two GPUs (naive,
-- overlapped, buckets of 10 and 100 MiB, no gradient exchange); 26 and 27 the unsharded and the sharded optimizer; 31
-- to 34 all_reduce of 1, 10 and 100 MB, with 10 MB twice; 35 a failed run; 36 one rank; 41 without clock offsets; 42
-- with a missing rank; 43 one rank; 44 Gloo on a CPU with overlapping calls. Calls 0 to 2 of run 23 are a group.
WITH given (run_id, workload, suite, suite_case, device_kind, ranks, status) AS (
  VALUES
  (21, 'ddp_naive', 'cs336', 'ddp-naive', 'cuda', 2, 'ok'),
  (22, 'ddp_overlap', 'cs336', 'ddp-overlap', 'cuda', 2, 'ok'),
  (23, 'ddp_bucketed', 'cs336', 'ddp-buckets', 'cuda', 2, 'ok'),
  (24, 'ddp_bucketed', 'cs336', 'ddp-buckets', 'cuda', 2, 'ok'),
  (25, 'ddp_bucketed', 'cs336', 'ddp-silent', 'cuda', 2, 'ok'),
  (26, 'sharded_optimizer', 'cs336', 'sharding', 'cuda', 2, 'ok'),
  (27, 'sharded_optimizer', 'cs336', 'sharding', 'cuda', 2, 'ok'),
  (31, 'all_reduce', 'cs336', 'collectives-nccl', 'cuda', 2, 'ok'),
  (32, 'all_reduce', 'cs336', 'collectives-nccl', 'cuda', 2, 'ok'),
  (33, 'all_reduce', 'cs336', 'collectives-nccl', 'cuda', 2, 'ok'),
  (34, 'all_reduce', 'cs336', 'collectives-nccl', 'cuda', 2, 'ok'),
  (35, 'all_reduce', 'cs336', 'collectives-nccl', 'cuda', 2, 'failed'),
  (36, 'all_reduce', 'cs336', 'collectives-gloo', 'cpu', 1, 'ok'), (41, 'ddp_flat', 'quick', 'ddp', 'cpu', 2, 'ok'),
  (42, 'ddp_flat', 'quick', 'ddp', 'cpu', 3, 'failed'), (43, 'ddp_flat', 'quick', 'ddp', 'cpu', 1, 'ok'),
  (44, 'ddp_overlap', 'quick', 'ddp', 'cpu', 2, 'ok')
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
  2,
  run_id,
  1,
  workload,
  'c' || run_id,
  's' || run_id,
  'q' || run_id,
  suite,
  suite_case,
  '',
  0,
  ranks,
  device_kind,
  'sync',
  'step',
  1,
  2,
  'time,trace',
  0,
  status,
  CASE status WHEN 'ok' THEN '' ELSE 'a rank was lost' END,
  'passed',
  '',
  '',
  '2026-01-03T00:00:' || run_id || '.000Z'
FROM given;
INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr)
SELECT
  r.run_id,
  k.rank,
  p.pass,
  1,
  'h',
  'ok',
  CASE r.device_kind WHEN 'cuda' THEN 2 ELSE 1 END,
  '',
  ''
FROM run r
JOIN (
  SELECT 0 AS rank
  UNION ALL
  SELECT 1
) k ON k.rank < r.ranks
JOIN (
  SELECT 'time' AS pass
  UNION ALL
  SELECT 'trace'
  UNION ALL
  SELECT 'memory'
) p
WHERE r.run_id > 20;
WITH given (run_id, name, type, value) AS (
  VALUES
  (23, 'bucket_mb', 'real', 10.0), (24, 'bucket_mb', 'real', 100.0), (25, 'bucket_mb', 'real', 10.0),
  (23, 'taper', 'bool', 0), (24, 'taper', 'bool', 0), (25, 'taper', 'bool', 0),
  (26, 'scheme', 'text', 'none'), (27, 'scheme', 'text', 'zero1'), (26, 'bucket_mb', 'real', 100.0),
  (27, 'bucket_mb', 'real', 100.0), (27, 'overlap', 'bool', 1), (42, 'copy', 'bool', 1), (31, 'bytes', 'int', 1000000),
  (32, 'bytes', 'int', 10000000), (33, 'bytes', 'int', 10000001), (34, 'bytes', 'int', 100000000),
  (35, 'bytes', 'int', 5), (36, 'bytes', 'int', 1000)
)
INSERT INTO param (run_id, name, type, value)
SELECT *
FROM given
UNION ALL
SELECT
  run_id,
  'model',
  'text',
  CASE WHEN run_id < 40 THEN 'xl' ELSE 'tiny' END
FROM run
WHERE run_id BETWEEN 21 AND 27 OR run_id > 40
UNION ALL
SELECT
  run_id,
  'context',
  'int',
  128
FROM run
WHERE run_id BETWEEN 21 AND 27 OR run_id > 40
UNION ALL
SELECT
  run_id,
  'batch',
  'int',
  2
FROM run
WHERE run_id BETWEEN 21 AND 27 OR run_id > 40
UNION ALL
SELECT
  run_id,
  'autocast',
  'bool',
  0
FROM run
WHERE run_id BETWEEN 21 AND 27 OR run_id > 40
UNION ALL
SELECT
  run_id,
  'optimizer',
  'text',
  'adamw'
FROM run
WHERE run_id BETWEEN 21 AND 27 OR run_id > 40
UNION ALL
SELECT
  run_id,
  'communicate',
  'bool',
  run_id <> 25
FROM run
WHERE run_id BETWEEN 21 AND 27 OR run_id > 40
UNION ALL
SELECT
  run_id,
  'dtype',
  'text',
  'fp32'
FROM run
WHERE run_id > 20
UNION ALL
SELECT
  run_id,
  'backend',
  'text',
  'auto'
FROM run
WHERE run_id > 20
UNION ALL
SELECT
  run_id,
  'in_place',
  'bool',
  1
FROM run
WHERE run_id BETWEEN 31 AND 36
UNION ALL
SELECT
  run_id,
  'operation',
  'text',
  'all_reduce'
FROM run
WHERE run_id BETWEEN 31 AND 36;
UPDATE run SET
  title = workload,
  family = CASE workload
    WHEN 'all_reduce' THEN 'collective'
    WHEN 'sharded_optimizer' THEN 'optimizer_sharding'
    ELSE 'data_parallel'
  END,
  family_order = CASE workload
    WHEN 'ddp_flat' THEN 1
    WHEN 'ddp_overlap' THEN 2
    WHEN 'ddp_bucketed' THEN 3
    ELSE 0
  END
WHERE run_id > 20;
WITH given (name, position, setting, title) AS (
  VALUES
  ('model', 0, 1, '{}'), ('context', 1, 1, 'context {}'), ('batch', 2, 1, 'batch {}'), ('dtype', 3, 1, '{}'),
  ('autocast', 4, 1, ''), ('optimizer', 5, 1, ''), ('backend', 6, 1, '{}'), ('communicate', 7, 0, 'no exchange'),
  ('bucket_mb', 8, 0, '{} MiB'), ('taper', 9, 0, ''), ('copy', 10, 0, 'copied'), ('scheme', 11, 0, '{}')
)
UPDATE param SET
  position = (SELECT g.position FROM given g WHERE g.name = param.name),
  setting = (SELECT g.setting FROM given g WHERE g.name = param.name),
  title = (SELECT g.title FROM given g WHERE g.name = param.name)
WHERE run_id > 20 AND name IN (SELECT g.name FROM given g);
-- Titles omit defaults.
UPDATE param SET title = '' WHERE run_id > 20 AND name = 'communicate' AND value = 1;
UPDATE param SET title = '' WHERE run_id IN (26, 27) AND name = 'bucket_mb';
UPDATE param SET choice = CASE value WHEN 'none' THEN 0 ELSE 2 END WHERE name = 'scheme';
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit)
SELECT
  run_id,
  0,
  'time',
  9,
  'run',
  -1,
  '',
  'backend',
  CASE device_kind WHEN 'cuda' THEN 'nccl' ELSE 'gloo' END,
  ''
FROM run
WHERE run_id > 20;
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(21, 0, 'time', 0, 'run', -1, '', 'gradient_bytes', 41943040, 'B'),
(21, 0, 'time', 1, 'run', -1, '', 'parameter_tensors', 40, ''),
(21, 0, 'time', 2, 'run', -1, '', 'tokens_per_step', 512, ''),
(22, 0, 'time', 0, 'run', -1, '', 'gradient_bytes', 41943040, 'B'),
(23, 0, 'time', 0, 'run', -1, '', 'gradient_bytes', 41943040, 'B'),
(24, 0, 'time', 0, 'run', -1, '', 'gradient_bytes', 41943040, 'B'),
(23, 0, 'time', 1, 'run', -1, '', 'parameter_tensors', 40, ''),
(33, 0, 'time', 0, 'run', -1, '', 'message_bytes', 10000000, 'B'),
(26, 0, 'memory', 0, 'run', -1, '', 'optimizer_state_bytes', 8000, 'B'),
(27, 0, 'memory', 0, 'run', -1, '', 'optimizer_state_bytes', 4000, 'B'),
(27, 1, 'memory', 0, 'run', -1, '', 'optimizer_state_bytes', 4000, 'B');

-- Times. In run 21, rank 1 is slower. The second all_reduce of 10 MB is the newest. The time of run 35 is from before
-- it failed.
WITH given (run_id, median_ms) AS (
  VALUES
  (21, 20.0), (22, 16.0), (23, 13.5), (24, 14.0), (25, 12.0), (26, 15.0), (27, 14.5), (31, 0.2), (32, 7.0), (33, 1.1),
  (34, 10.1), (35, 1.0), (36, 0.5), (41, 4.0), (43, 3.0), (44, 3.5)
)
INSERT INTO statistic (
  run_id, phase, clock, count, excluded, all_throttled, mean_ns, std_ns, median_ns, min_ns, max_ns
)
SELECT
  run_id,
  'step',
  'device',
  2,
  0,
  0,
  median_ms * 1e6,
  1000,
  median_ms * 1e6,
  median_ms * 1e6,
  median_ms * 1e6
FROM given;
WITH given (run_id, rank, forward_ns, backward_ns, communication_ns, optimizer_ns) AS (
  VALUES
  (21, 0, 3000000, 6000000, 8000000, 2000000), (21, 1, 3000000, 7000000, 8000000, 2000000),
  (22, 0, 3000000, 8000000, 3000000, 2000000), (22, 1, 3000000, 8000000, 3000000, 2000000)
),
steps (step, extra_ns) AS (VALUES (0, 50000000), (1, 0), (2, 100000))
INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, device_ns)
SELECT
  g.run_id,
  g.rank,
  'time',
  s.step,
  'forward',
  s.step = 0,
  0,
  1,
  0,
  g.forward_ns,
  g.forward_ns
FROM given g, steps s
UNION ALL
SELECT
  g.run_id,
  g.rank,
  'time',
  s.step,
  'backward',
  s.step = 0,
  0,
  1,
  0,
  g.backward_ns,
  g.backward_ns
FROM given g, steps s
UNION ALL
SELECT
  g.run_id,
  g.rank,
  'time',
  s.step,
  'communication',
  s.step = 0,
  0,
  1,
  0,
  g.communication_ns,
  g.communication_ns + s.extra_ns
FROM given g, steps s
UNION ALL
SELECT
  g.run_id,
  g.rank,
  'time',
  s.step,
  'optimizer',
  s.step = 0,
  0,
  1,
  0,
  g.optimizer_ns,
  g.optimizer_ns
FROM given g, steps s
UNION ALL
SELECT
  g.run_id,
  g.rank,
  'time',
  s.step,
  'step',
  s.step = 0,
  0,
  1,
  0,
  0,
  g.forward_ns + g.backward_ns + g.communication_ns + g.optimizer_ns + s.extra_ns
FROM given g, steps s;
INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, device_ns) VALUES
(31, 0, 'time', 1, 'step', 0, 0, 1, 0, 200000, 190000), (31, 1, 'time', 1, 'step', 0, 0, 1, 0, 200000, 200000),
(36, 0, 'time', 1, 'step', 0, 0, 1, 0, 500000, NULL);
INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, device_ns)
SELECT
  r.run_id,
  k.rank,
  p.pass,
  s.step,
  'step',
  s.step = 0,
  0,
  1,
  1000000 * s.step,
  900000,
  NULL
FROM run r
JOIN (
  SELECT 0 AS rank
  UNION ALL
  SELECT 1
) k ON k.rank < r.ranks
JOIN (
  SELECT 'trace' AS pass
  UNION ALL
  SELECT 'memory'
) p
JOIN (
  SELECT 0 AS step
  UNION ALL
  SELECT 1
  UNION ALL
  SELECT 2
) s
WHERE r.run_id IN (21, 22, 23, 26, 27, 41, 42, 43, 44);

-- Calls. In run 21, the clock of rank 1 is 5000 ns behind that of rank 0: on the shared clock, rank 1 starts call 1 200
-- µs after rank 0, and rank 0 starts call 2 50 µs after rank 1.
INSERT INTO string (string_id, text) VALUES
(101, 'world'), (102, 'forward'), (103, 'backward'), (104, 'communication'), (105, 'optimizer'),
(110, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), (111, 'sgemm_128x64_tn');
INSERT INTO kernel_class (name_id, short_name, class) VALUES
(110, 'ncclDevKernel_AllReduce', 'communication'), (111, 'sgemm_128x64_tn', 'matmul');
INSERT INTO clock_sync (run_id, rank, pass, sequence, clock, host_ns, clock_ns, error_ns) VALUES
(21, 0, 'trace', 0, 'device', 0, 999, 1), (21, 0, 'trace', 1, 'supervisor', 1000, 501000, 20000),
(21, 1, 'trace', 0, 'supervisor', 0, 505000, 30000), (21, 1, 'trace', 1, 'supervisor', 0, 509000, 90000),
(42, 0, 'trace', 0, 'supervisor', 0, 0, 10), (42, 1, 'trace', 0, 'supervisor', 0, 0, 10),
(23, 0, 'trace', 0, 'supervisor', 0, 0, 10), (23, 1, 'trace', 0, 'supervisor', 0, 0, 10),
(44, 0, 'trace', 0, 'supervisor', 0, 0, 10), (44, 1, 'trace', 0, 'supervisor', 0, 0, 10);
INSERT INTO collective (
  run_id, rank, pass, sequence, communicator_id, call_number, operation, bytes, on_device, enqueue_ns, returned_ns,
  start_ns, end_ns, kernels, step, phase_id, scope_id, attribution
) VALUES
(21, 0, 'trace', 0, 101, 0, 'broadcast', 4000, 1, 1000, 2000, 3000, 9000, 1, -1, NULL, NULL, 'none'),
(21, 1, 'trace', 0, 101, 0, 'broadcast', 4000, 1, 1000, 2000, 3000, 9000, 1, -1, NULL, NULL, 'none'),
(21, 0, 'trace', 1, 101, 1, 'all_reduce', 1000000, 1, 1100000, 1110000, 1200000, 1900000, 1, 1, 104, NULL, 'phase'),
(21, 1, 'trace', 1, 101, 1, 'all_reduce', 1000000, 1, 1300000, 1310000, 1395000, 1895000, 1, 1, 104, NULL, 'phase'),
(21, 0, 'trace', 2, 101, 2, 'all_reduce', 1000000, 1, 2100000, 2110000, 2250000, 2550000, 1, 2, 104, NULL, 'phase'),
(21, 1, 'trace', 2, 101, 2, 'all_reduce', 1000000, 1, 2100000, 2110000, 2195000, 2545000, 1, 2, 104, NULL, 'phase'),
(21, 0, 'trace', 3, 101, 3, 'all_reduce', 1000000, 1, 2700000, 2710000, NULL, NULL, 0, 2, 104, NULL, 'phase'),
(21, 1, 'trace', 3, 101, 3, 'all_reduce', 1000000, 1, 2700000, 2710000, 2750000, 2850000, 1, 2, 104, NULL, 'phase'),
(23, 0, 'trace', 0, 101, 0, 'all_reduce', 1000000, 1, 1100000, 1110000, 1200000, 1600000, 2, 1, 103, NULL, 'phase'),
(23, 0, 'trace', 1, 101, 1, 'all_reduce', 2000000, 1, 1101000, 1111000, 1200000, 1600000, 2, 1, 103, NULL, 'phase'),
(23, 0, 'trace', 2, 101, 2, 'all_reduce', 1000000, 1, 1102000, 1112000, 1200000, 1600000, 2, 1, 103, NULL, 'phase'),
(23, 0, 'trace', 3, 101, 3, 'all_reduce', 1000000, 1, 2050000, 2060000, 2100000, 2200000, 1, 2, 103, NULL, 'phase'),
(23, 1, 'trace', 0, 101, 0, 'all_reduce', 1000000, 1, 1100000, 1110000, 1300000, 1600000, 2, 1, 103, NULL, 'phase'),
(23, 1, 'trace', 1, 101, 1, 'all_reduce', 2000000, 1, 1101000, 1111000, 1300000, 1600000, 2, 1, 103, NULL, 'phase'),
(23, 1, 'trace', 2, 101, 2, 'all_reduce', 1000000, 1, 1102000, 1112000, 1300000, 1600000, 2, 1, 103, NULL, 'phase'),
(23, 1, 'trace', 3, 101, 3, 'all_reduce', 1000000, 1, 2050000, 2060000, 2100000, 2210000, 1, 2, 103, NULL, 'phase'),
(41, 0, 'trace', 0, 101, 0, 'all_reduce', 5000, 0, 1100000, 1110000, 1100000, 1300000, 0, 1, 104, NULL, 'phase'),
(41, 1, 'trace', 0, 101, 0, 'all_reduce', 5000, 0, 1150000, 1160000, 1150000, 1300000, 0, 1, 104, NULL, 'phase'),
(42, 0, 'trace', 0, 101, 0, 'all_reduce', 5000, 0, 1100000, 1110000, 1100000, 1300000, 0, 1, 104, NULL, 'phase'),
(42, 1, 'trace', 0, 101, 0, 'all_reduce', 5000, 0, 1150000, 1160000, 1150000, 1300000, 0, 1, 104, NULL, 'phase'),
(43, 0, 'trace', 0, 101, 0, 'all_reduce', 5000, 0, 1100000, 1110000, 1100000, 1300000, 0, 1, 104, NULL, 'phase'),
(43, 0, 'trace', 1, 101, 1, 'barrier', 0, 0, 1400000, 1410000, 1400000, 1400000, 0, 1, 104, NULL, 'phase'),
(44, 0, 'trace', 0, 101, 0, 'all_reduce', 3000, 0, 1100000, 1110000, 1100000, 1300000, 0, 1, 103, NULL, 'phase'),
(44, 0, 'trace', 1, 101, 1, 'all_reduce', 5000, 0, 1200000, 1210000, 1200000, 1400000, 0, 1, 103, NULL, 'phase'),
(44, 0, 'trace', 2, 101, 2, 'all_reduce', 5000, 0, 1450000, 1460000, 1450000, 1600000, 0, 1, 103, NULL, 'phase'),
(44, 1, 'trace', 0, 101, 0, 'all_reduce', 3000, 0, 1100000, 1110000, 1100000, 1310000, 0, 1, 103, NULL, 'phase'),
(44, 1, 'trace', 1, 101, 1, 'all_reduce', 5000, 0, 1220000, 1230000, 1220000, 1420000, 0, 1, 103, NULL, 'phase'),
(44, 1, 'trace', 2, 101, 2, 'all_reduce', 5000, 0, 1430000, 1460000, 1430000, 1600000, 0, 1, 103, NULL, 'phase');
INSERT INTO "range" (
  run_id, rank, pass, sequence, parent, kind, name_id, scope_id, step, phase_id, thread, start_ns, end_ns
) VALUES
(21, 0, 'trace', 0, NULL, 'phase', 103, NULL, 2, 103, 0, 2000000, 2080000),
(21, 0, 'trace', 1, NULL, 'phase', 104, NULL, 2, 104, 0, 2090000, 2800000),
(22, 0, 'trace', 0, NULL, 'phase', 103, NULL, 2, 103, 0, 2000000, 2080000),
(44, 0, 'trace', 0, NULL, 'phase', 103, NULL, 1, 103, 0, 1050000, 1500000),
(44, 0, 'trace', 1, NULL, 'phase', 104, NULL, 1, 104, 0, 1500000, 1610000);
INSERT INTO launch_config (
  run_id, rank, pass, launch_config, grid_x, grid_y, grid_z, block_x, block_y, block_z, static_shared_bytes,
  dynamic_shared_bytes, registers
) VALUES (21, 0, 'trace', 0, 16, 1, 1, 512, 1, 1, 0, 0, 96);
INSERT INTO gpu_activity (
  run_id, rank, pass, sequence, name_id, start_ns, end_ns, stream, correlation_id, step, phase_id, scope_id,
  attribution, launch_config
) VALUES
(21, 0, 'trace', 0, 111, 2010000, 2090000, 0, 1, 2, 103, NULL, 'phase', 1),
(21, 0, 'trace', 1, 110, 2250000, 2550000, 13, 2, 2, 104, NULL, 'phase', 0),
(22, 0, 'trace', 0, 111, 2010000, 2090000, 0, 1, 2, 103, NULL, 'phase', 1),
(22, 1, 'trace', 0, 110, -500000, -300000, 13, 1, -1, NULL, NULL, 'none', 0),
(22, 1, 'trace', 1, 111, 100000, 200000, 0, 2, 1, 103, NULL, 'phase', 1),
(22, 1, 'trace', 2, 110, 150000, 400000, 13, 3, 1, 103, NULL, 'phase', 0),
(22, 1, 'trace', 3, 111, 180000, 220000, 7, 4, 1, 103, NULL, 'phase', 1),
(22, 1, 'trace', 4, 110, 390000, 450000, 14, 5, 1, 103, NULL, 'phase', 0),
(22, 1, 'trace', 5, 111, 220000, 230000, 0, 6, 1, 103, NULL, 'phase', 1);
INSERT INTO kernel_total (
  run_id, rank, pass, sequence, kind, phase_id, scope_id, name_id, attribution, steps, calls, bytes, total_ns, min_ns,
  max_ns
) VALUES
(21, 0, 'trace', 0, 'kernel', 103, NULL, 111, 'phase', 2, 2, 0, 160000, 80000, 80000),
(22, 0, 'trace', 0, 'kernel', 103, NULL, 111, 'phase', 2, 2, 0, 160000, 80000, 80000),
(22, 1, 'trace', 0, 'kernel', 103, NULL, 111, 'phase', 2, 2, 0, 160000, 80000, 80000),
(23, 0, 'trace', 0, 'kernel', 103, NULL, 111, 'phase', 2, 2, 0, 160000, 80000, 80000);
INSERT INTO step_activity (
  run_id, rank, pass, step, phase, warmup, start_ns, end_ns, kernels, kernel_ns, compute_ns, comm_ns, overlap_ns,
  exposed_comm_ns, copy_ns, exposed_copy_ns, idle_ns, gaps, longest_gap_ns
) VALUES
(21, 0, 'trace', 1, 'step', 0, 0, 20000000, 9, 1, 10000000, 8000000, 0, 8000000, 0, 0, 2000000, 1, 1),
(21, 0, 'trace', 2, 'step', 0, 0, 20000000, 9, 1, 10000000, 8000000, 0, 8000000, 0, 0, 2000000, 1, 1),
(22, 0, 'trace', 0, 'step', 1, 0, 90000000, 9, 1, 10000000, 8000000, 2000000, 6000000, 0, 0, 1, 1, 1),
(22, 0, 'trace', 1, 'step', 0, 0, 16000000, 9, 1, 12000000, 8000000, 6000000, 2000000, 0, 0, 2000000, 1, 1),
(22, 0, 'trace', 2, 'step', 0, 0, 16000000, 9, 1, 12000000, 8000000, 5000000, 3000000, 0, 0, 1000000, 1, 1),
(22, 0, 'trace', 1, 'backward', 0, 0, 8000000, 9, 1, 8000000, 6000000, 6000000, 0, 0, 0, 0, 1, 1),
(22, 1, 'trace', 1, 'step', 0, 0, 16000000, 9, 1, 12000000, 8000000, 4000000, 4000000, 0, 0, 0, 1, 1),
(23, 0, 'trace', 1, 'step', 0, 0, 16000000, 9, 1, 12000000, 0, 0, 0, 0, 0, 0, 1, 1);

-- Memory of runs 26 and 27: markers and the points of the memory timeline around them. Step 0 is warm-up. Rank 1 of run
-- 26 has no memory timeline.
INSERT INTO mark (run_id, rank, pass, sequence, name, time_ns, step)
SELECT
  r.run_id,
  k.rank,
  'memory',
  m.sequence,
  m.name,
  m.time_ns,
  m.step
FROM (
  SELECT 26 AS run_id
  UNION ALL
  SELECT 27
) r
JOIN (
  SELECT 0 AS rank
  UNION ALL
  SELECT 1
) k
JOIN (
  SELECT
    0 AS sequence,
    'model_ready' AS name,
    100 AS time_ns,
    -1 AS step
  UNION ALL
  SELECT
    1,
    'optimizer_ready',
    200,
    -1
  UNION ALL
  SELECT
    2,
    'before_optimizer',
    300,
    0
  UNION ALL
  SELECT
    3,
    'after_optimizer',
    400,
    0
  UNION ALL
  SELECT
    4,
    'before_optimizer',
    500,
    1
  UNION ALL
  SELECT
    5,
    'after_optimizer',
    600,
    1
  UNION ALL
  SELECT
    6,
    'worker: created',
    90,
    -1
) m;
CREATE TEMP TABLE given (
  run_id INTEGER,
  rank INTEGER,
  sequence INTEGER,
  time_ns INTEGER,
  gradient_bytes INTEGER,
  optimizer_state_bytes INTEGER,
  activation_bytes INTEGER
);
INSERT INTO given VALUES
(26, 0, 0, 90, 0, 0, 0), (26, 0, 1, 250, 4000, 0, 500), (26, 0, 2, 390, 4000, 8000, 0),
(26, 0, 3, 499, 4000, 8000, 200), (26, 0, 4, 501, 4000, 8000, 0), (27, 0, 0, 90, 0, 0, 0),
(27, 0, 1, 250, 4000, 0, 500), (27, 0, 2, 390, 4000, 4000, 0), (27, 0, 3, 500, 4000, 4000, 200),
(27, 0, 4, 550, 2000, 4000, 0), (27, 1, 0, 120, 0, 0, 0);
INSERT INTO memory_point (
  run_id, rank, pass, sequence, device, time_ns, step, requested_bytes, allocated_bytes, active_bytes, reserved_bytes
)
SELECT
  run_id,
  rank,
  'memory',
  10 * sequence,
  'cuda',
  time_ns,
  0,
  4000,
  4000 + gradient_bytes + optimizer_state_bytes + activation_bytes + 60,
  1,
  1
FROM given;
-- Its blocks, which are freed directly after it.
INSERT INTO allocation (
  run_id, rank, pass, sequence, device, address, requested_bytes, allocated_bytes, alloc_ns, free_ns, free_sequence,
  stream, thread, step, category, category_source
)
SELECT
  g.run_id,
  g.rank,
  'memory',
  10 * g.sequence - c.column2,
  'cuda',
  4096 * c.column2,
  1,
  CASE c.column1
    WHEN 'gradient' THEN g.gradient_bytes
    WHEN 'optimizer_state' THEN g.optimizer_state_bytes
    WHEN 'activation' THEN g.activation_bytes
    ELSE c.column3
  END,
  g.time_ns,
  g.time_ns + 1,
  10 * g.sequence + 1,
  0,
  0,
  0,
  c.column1,
  'tag'
FROM given g
CROSS JOIN (
  VALUES
  ('parameter', 0, 4000), ('gradient', 1, 0), ('optimizer_state', 2, 0), ('activation', 3, 0), ('workspace', 4, 10),
  ('input', 5, 20), ('unknown', 6, 30)
) c;
DROP TABLE given;
