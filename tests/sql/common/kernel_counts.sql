-- SPDX-License-Identifier: Apache-2.0
-- For the GPU of kernel_verdicts.sql (25 GB/s, bf16 200 GFLOP/s), whose L2 cache has 40 GB/s here: runs with counters
-- by kernel. Run 60 has a kernel of 1 ms for each reason, operators that declare the work of two of them, and counts of
-- two steps. The pass trace of run 61 launches another kernel, that of run 62 one more, and that of run 63 the same in
-- one step only. Run 64 was counted, but not traced.
UPDATE run SET status = 'ok', family = 'peak' WHERE run_id = 3;
UPDATE param SET value = 'cache' WHERE run_id = 3 AND name = 'kind';
UPDATE rank SET device_id = 9 WHERE run_id = 3;
WITH given (run_id) AS (VALUES (60), (61), (62), (63), (64))
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
(60, 0, 'ops', 1, 'h', 'ok', 9, '', ''), (60, 0, 'counters', 1, 'h', 'ok', 9, '', ''),
(61, 0, 'trace', 1, 'h', 'ok', 9, '', ''), (61, 0, 'counters', 1, 'h', 'ok', 9, '', ''),
(62, 0, 'trace', 1, 'h', 'ok', 9, '', ''), (62, 0, 'counters', 1, 'h', 'ok', 9, '', ''),
(63, 0, 'trace', 1, 'h', 'ok', 9, '', ''), (63, 0, 'counters', 1, 'h', 'ok', 9, '', ''),
(64, 0, 'counters', 1, 'h', 'ok', 9, '', '');
INSERT INTO launch_config
SELECT
  k.run_id,
  0,
  k.pass,
  0,
  5280,
  1,
  1,
  512,
  1,
  1,
  0,
  0,
  32
FROM rank k
WHERE k.run_id BETWEEN 60 AND 63 AND k.pass <> 'counters';
INSERT INTO string (string_id, text) VALUES
(760, 'dram__bytes_read.sum'), (761, 'lts__t_bytes.sum'), (762, 'sm__cycles_active.sum'),
(763, 'sm__pipe_tensor_cycles_active.sum'), (764, 'sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum'),
(765, 'sm__ops_path_tensor_src_fp64.sum'), (770, 'cache'), (771, 'tensor'), (772, 'excess'), (773, 'declared'),
(774, 'undecided'), (775, 'fp64'), (776, 'triton_softmax'), (777, 'both'), (778, 'dram__bytes_write.sum')
ON CONFLICT DO NOTHING;
-- In each call: bytes of DRAM and of the L2 cache, operations, and cycles of tensor cores per 100 of multiprocessors.
CREATE TEMP TABLE counted_kernel (
  launch INTEGER,
  phase_id INTEGER,
  name_id INTEGER,
  dram REAL,
  l2 REAL,
  bf16 REAL,
  fp64 REAL,
  tensor REAL,
  op_work INTEGER
);
INSERT INTO counted_kernel VALUES
(0, 700, 776, 20e6, 1e6, 0, 0, 0, NULL),
(1, 701, 776, 1e6, 1e6, 150e6, 0, 75, NULL),
(2, 770, 776, 1e6, 30e6, 0, 0, 0, NULL),
(3, 771, 776, 1e6, 1e6, 20e6, 0, 10, NULL),
(4, 772, 720, 20e6, 20e6, 0, 0, 0, 0),
(5, 773, 720, 20e6, 20e6, 0, 0, 0, 1),
(6, 774, 776, 5e6, 5e6, 60e6, 0, 31, NULL),
(7, 775, 776, 1e6, 1e6, 0, 50e6, 75, NULL),
(8, 777, 776, 16e6, 1e6, 1e6, 0, 1, NULL),
(9, 777, 776, 18e6, 1e6, 3e6, 0, 1, NULL);
INSERT INTO op_work
SELECT
  60,
  0,
  'ops',
  k.op_work,
  k.phase_id,
  730,
  740,
  750,
  0,
  'elementwise',
  'f32',
  2,
  2,
  1e6,
  1e6,
  1e6,
  CASE k.op_work WHEN 0 THEN 10e6 ELSE 20e6 END,
  2000000,
  2,
  2000000
FROM counted_kernel k
WHERE k.op_work IS NOT NULL;
INSERT INTO kernel_total (
  run_id, rank, pass, sequence, kind, phase_id, scope_id, name_id, attribution, steps, calls, bytes, total_ns, min_ns,
  max_ns, launch_config, op_work
)
SELECT
  k.run_id,
  0,
  k.pass,
  100 + c.launch,
  'kernel',
  c.phase_id,
  CASE WHEN k.run_id = 60 THEN 730 END,
  c.name_id,
  'launch',
  2,
  2 * count(*),
  0,
  2000000 * count(*),
  1,
  1,
  0,
  CASE WHEN k.run_id = 60 THEN c.op_work END
FROM rank k
JOIN counted_kernel c ON k.run_id = 60 OR c.launch < 2
WHERE k.run_id BETWEEN 60 AND 63 AND k.pass <> 'counters'
GROUP BY k.run_id, c.phase_id;
-- Streams can start kernels in another order than that of their launch, which the correlation id has.
INSERT INTO gpu_activity (
  run_id,
  rank,
  pass,
  sequence,
  name_id,
  start_ns,
  end_ns,
  stream,
  correlation_id,
  step,
  phase_id,
  scope_id,
  attribution,
  launch_config
)
SELECT
  k.run_id,
  0,
  k.pass,
  100 * s.step - c.launch,
  CASE WHEN k.run_id = 61 AND c.launch = 1 OR k.run_id = 63 AND s.step = 3 THEN 723 ELSE c.name_id END,
  1,
  2,
  0,
  1000 * s.step + c.launch,
  s.step,
  c.phase_id,
  CASE WHEN k.run_id = 60 THEN 730 END,
  'launch',
  0
FROM rank k
JOIN counted_kernel c ON k.run_id = 60 OR c.launch < CASE k.run_id WHEN 62 THEN 3 ELSE 2 END
CROSS JOIN (
  SELECT 2 AS step
  UNION ALL
  SELECT 3
) s
WHERE k.run_id BETWEEN 60 AND 63 AND k.pass <> 'counters';
-- A copy is no kernel.
INSERT INTO gpu_activity (
  run_id, rank, pass, sequence, name_id, start_ns, end_ns, stream, correlation_id, step, phase_id, attribution, bytes
) VALUES (60, 0, 'ops', 900, 723, 1, 2, 0, 2000, 2, 700, 'launch', 64);
INSERT INTO kernel_count
SELECT
  k.run_id,
  0,
  'counters',
  row_number() OVER (PARTITION BY k.run_id ORDER BY c.launch, m.metric),
  c.launch,
  c.phase_id,
  c.name_id,
  m.metric,
  m.steps,
  m.steps * CASE m.metric
    WHEN 760 THEN 0.75 * c.dram
    WHEN 778 THEN 0.25 * c.dram
    WHEN 761 THEN c.l2
    WHEN 762 THEN 100
    WHEN 763 THEN 4 * c.tensor
    WHEN 764 THEN c.bf16
    ELSE c.fp64
  END
FROM rank k
JOIN counted_kernel c ON k.run_id = 60 OR c.launch < 2
CROSS JOIN (
  SELECT
    string_id AS metric,
    CASE WHEN string_id < 763 OR string_id = 778 THEN 2 ELSE 1 END AS steps
  FROM string
  WHERE string_id BETWEEN 760 AND 765 OR string_id = 778
) m
WHERE k.run_id BETWEEN 60 AND 64 AND k.pass = 'counters';
