-- SPDX-License-Identifier: Apache-2.0
-- Run 4 is made like run 1 but for its build, in another invocation; run 2 has another seed.
UPDATE run
SET
  case_key = 'c',
  suite = 'it''s',
  suite_case = '',
  mode = 'sync',
  sync = 'step',
  warmup = 1,
  steps = 5,
  until_relative_error = NULL,
  passes = 'time',
  seed = run_id = 2
WHERE run_id IN (1, 2, 4);
SELECT
  run_id,
  invocation_id,
  suite,
  label,
  plan_key,
  place,
  alike = (SELECT alike FROM run_place WHERE run_id = 1) AS like_run_1
FROM run_place
ORDER BY run_id;
SELECT alike FROM run_place WHERE run_id = 1;
