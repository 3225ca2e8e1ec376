-- SPDX-License-Identifier: Apache-2.0
-- For the peaks of peaks.sql (25 GB/s, fp32 100 and bf16 200 GFLOP/s): run 9 on the processor, whose operators have one
-- reason each for their time, and whose step takes 50 ms.
CREATE TEMP TABLE other_run AS SELECT * FROM run WHERE run_id = 1;
UPDATE other_run SET run_id = 9, sequence = 9, family = '', device_kind = 'cpu';
INSERT INTO run SELECT * FROM other_run;
INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr) VALUES
(9, 0, 'time', 1, 'h', 'ok', 1, '', ''),
(9, 0, 'ops', 1, 'h', 'ok', 1, '', '');
INSERT INTO statistic (
  run_id, phase, clock, count, excluded, all_throttled, mean_ns, median_ns, min_ns, max_ns
) VALUES
(9, 'step', 'host', 5, 0, 0, 50e6, 50e6, 50e6, 50e6),
(9, 'forward', 'host', 5, 0, 0, 25e6, 25e6, 25e6, 25e6);
INSERT INTO work (run_id, rank, phase, flops, bytes) VALUES
(9, 0, 'forward', 2e9, 0),
(9, 0, 'backward', 3e9, 0);
INSERT INTO string (string_id, text) VALUES
(900, 'MmBackward0'),
(901, 'aten::add'),
(902, 'aten::bmm'),
(903, 'aten::exp'),
(904, 'aten::mm'),
(905, 'aten::mul'),
(906, 'bf16[1]'),
(907, 'bf16[2]'),
(908, 'c10d::allreduce_'),
(909, 'f16[1]'),
(910, 'f32[1]'),
(911, 'f32[2]'),
(912, 'f32[3]'),
(913, 'kymo::attention'),
(914, 'mylib::scale'),
(890, 'layer_0'),
(920, 'f32[4]'),
(921, 'f32[5]'),
(922, 'f32[6]')
ON CONFLICT DO NOTHING;
INSERT INTO string (text) VALUES
('forward'),
('backward'),
('optimizer')
ON CONFLICT DO NOTHING;
INSERT INTO scope_path (scope_id, module, depth) VALUES (890, 'layer', 1);
CREATE TEMP TABLE each_operator (
  sequence INTEGER,
  phase TEXT,
  scope_id INTEGER,
  name TEXT,
  arguments TEXT,
  recomputed INTEGER,
  kind TEXT,
  dtype TEXT,
  calls INTEGER,
  flops REAL,
  model_flops REAL,
  masked_model_flops REAL,
  bytes REAL,
  host_ns INTEGER
);
INSERT INTO each_operator VALUES
(0, 'forward', 890, 'aten::mm', 'f32[1]', 0, 'matmul', 'f32', 1, 1e9, 1e9, 1e9, 1000000, 12500000),
(1, 'forward', 890, 'aten::mm', 'bf16[1]', 0, 'matmul', 'bf16', 1, 1e9, 1e9, 1e9, 1000000, 6250000),
(2, 'forward', 890, 'aten::add', 'f32[2]', 0, 'elementwise', 'f32', 1, 1000000, 1000000, 1000000, 25000000, 1250000),
(3, 'forward', 890, 'aten::mul', 'f32[3]', 0, 'elementwise', 'f32', 1000, 10, 10, 10, 80, 2000000),
(4, 'forward', 890, 'mylib::scale', 'f32[2]', 0, 'unknown', '', 1, NULL, NULL, NULL, NULL, 1000000),
(5, 'backward', 890, 'c10d::allreduce_', 'f32[2]', 0, 'collective', 'f32', 1, 0, 0, 0, 8000000, 1000000),
(6, 'backward', 890, 'aten::exp', 'f32[2]', 0, 'elementwise', 'f32', 1, 1000000, 1000000, 1000000, 8000000, 3200000),
(7, 'backward', 890, 'aten::bmm', 'f16[1]', 0, 'matmul', 'f16', 1, 1e8, 1e8, 1e8, 1000000, 1000000),
(8, 'backward', 890, 'aten::mm', 'bf16[1]', 1, 'matmul', 'bf16', 1, 1e9, 0, 0, 1000000, 6250000),
(9, 'backward', 890, 'kymo::attention', 'bf16[2]', 0, 'attention', 'bf16', 1, 5e8, 8e8, 4e8, 1000000, 3000000),
(10, 'backward', NULL, 'MmBackward0', NULL, 0, 'overhead', '', 4, 0, 0, 0, 0, 500000),
(11, 'optimizer', 890, 'aten::mm', 'f32[4]', 0, 'matmul', 'f32', 1000, 20000, 20000, 20000, 100, 2000000),
(12, 'optimizer', 890, 'aten::mm', 'f32[5]', 0, 'matmul', 'f32', 1, 1e8, 1e8, 1e8, 100, 20000000),
(13, 'optimizer', 890, 'aten::mm', 'f32[6]', 0, 'matmul', 'f32', 1, 3e8, 3e8, 3e8, 100, 1000000);
INSERT INTO op_work
SELECT
  9,
  0,
  'ops',
  e.sequence,
  (SELECT s.string_id FROM string s WHERE s.text = e.phase),
  e.scope_id,
  (SELECT s.string_id FROM string s WHERE s.text = e.name),
  (SELECT s.string_id FROM string s WHERE s.text = e.arguments),
  e.recomputed,
  e.kind,
  e.dtype,
  1,
  e.calls,
  e.flops,
  e.model_flops,
  e.masked_model_flops,
  e.bytes,
  e.host_ns,
  0,
  0
FROM each_operator e;
