-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- A collective waits for the last rank (run 44), is bound by the transfer (run 21), or its waits are not known (41).
UPDATE collective SET start_ns = end_ns - 50000 WHERE run_id = 44 AND rank = 1;
INSERT INTO string (string_id, text) VALUES (790, 'c10d::allreduce_'), (791, 'f32[9]') ON CONFLICT DO NOTHING;
WITH given (run_id, phase_id, name_id) AS (VALUES (21, 104, 790), (41, 104, 790), (44, 103, 790))
INSERT INTO op_work
SELECT
  run_id,
  0,
  'trace',
  0,
  phase_id,
  NULL,
  name_id,
  791,
  0,
  'collective',
  'f32',
  2,
  2,
  0,
  0,
  0,
  36,
  1000000,
  0,
  0
FROM given;
SELECT
  run_id,
  verdict,
  reason,
  next_step
FROM op_verdict ORDER BY run_id;
