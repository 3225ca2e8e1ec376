-- SPDX-License-Identifier: Apache-2.0
-- Rows besides those of `collected`.
-- Phases that dominate a step: the optimizer of run 1, one operator of which takes most of it, with two measured steps
-- of which only one updates; the optimizer of run 5, whose operators take it together, and of run 6, where none takes a
-- tenth of it; the program 4, whose time pass spends most of it outside of phases; and the kernels of the optimizer of
-- run 11. Not: run 2, whose optimizer takes just a half; run 3, which consists of an optimizer; run 14, which is no
-- program; the kernels of run 12.
CREATE TEMP TABLE copied AS SELECT * FROM run WHERE run_id = 1;
UPDATE copied SET run_id = 5, sequence = 9;
INSERT INTO run SELECT * FROM copied;
UPDATE copied SET run_id = 6, sequence = 10;
INSERT INTO run SELECT * FROM copied;
CREATE TEMP TABLE given (run_id INTEGER, pass TEXT, step INTEGER, warmup INTEGER, phase TEXT, us INTEGER);
INSERT INTO given VALUES
(1, 'ops', 0, 1, 'step', 90000), (1, 'ops', 0, 1, 'optimizer', 1),
(1, 'ops', 1, 0, 'step', 10000), (1, 'ops', 1, 0, 'forward', 1000), (1, 'ops', 1, 0, 'backward', 2000),
(1, 'ops', 2, 0, 'step', 10000), (1, 'ops', 2, 0, 'forward', 1000), (1, 'ops', 2, 0, 'optimizer', 12000),
(2, 'ops', 1, 0, 'step', 10000), (2, 'ops', 1, 0, 'forward', 5000), (2, 'ops', 1, 0, 'optimizer', 5000),
(3, 'ops', 1, 0, 'step', 10000), (3, 'ops', 1, 0, 'optimizer', 10000),
(4, 'time', 1, 0, 'step', 10000), (4, 'time', 1, 0, 'forward', 2000), (4, 'time', 1, 0, 'other', 8000),
(5, 'ops', 1, 0, 'step', 10000), (5, 'ops', 1, 0, 'backward', 2000), (5, 'ops', 1, 0, 'optimizer', 7500),
(6, 'ops', 1, 0, 'step', 50000), (6, 'ops', 1, 0, 'backward', 2000), (6, 'ops', 1, 0, 'optimizer', 40000),
(14, 'time', 9, 0, 'step', 90000), (14, 'time', 9, 0, 'forward', 1), (14, 'time', 9, 0, 'other', 89999);
INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, device_ns)
SELECT
  run_id,
  0,
  pass,
  step,
  phase,
  warmup,
  0,
  1,
  step,
  1000 * us,
  NULL
FROM given;
UPDATE run SET timing = 'free' WHERE run_id = 4;
INSERT OR IGNORE INTO string (text) VALUES ('aten::_linalg_svd'), ('aten::matmul'), ('optimizer');
INSERT INTO op_total
(
  run_id, rank, pass, sequence, phase_id, scope_id, name_id, backward, steps, calls, host_ns, self_host_ns, kernels,
  device_ns
)
SELECT
  r.run_id,
  0,
  'ops',
  n.string_id,
  p.string_id,
  NULL,
  n.string_id,
  0,
  r.steps,
  4,
  9000000,
  CASE n.text WHEN 'aten::matmul' THEN 1000000 ELSE r.svd_ns END,
  0,
  0
FROM (
  SELECT
    1 AS run_id,
    2 AS steps,
    9000000 AS svd_ns
  UNION ALL
  SELECT
    5,
    1,
    3000000
  UNION ALL
  SELECT
    6,
    1,
    3000000
) r
CROSS JOIN string p
JOIN string n ON n.text IN ('aten::_linalg_svd', 'aten::matmul')
WHERE p.text = 'optimizer';
UPDATE kernel_total SET total_ns = 100 * total_ns
WHERE run_id = 11 AND phase_id = (SELECT string_id FROM string WHERE text = 'optimizer');
