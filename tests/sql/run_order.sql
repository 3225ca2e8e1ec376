-- SPDX-License-Identifier: Apache-2.0
-- Run 4 differs from run 1 only in the plugin build and the invocation; run 2 has another seed.
UPDATE run
SET
  case_key = 'c',
  suite = 'it''s',
  suite_case = '',
  timing = 'sync',
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
  start_order,
  build_independent_key = (SELECT build_independent_key FROM run_order WHERE run_id = 1) AS like_run_1
FROM run_order
ORDER BY run_id;
SELECT build_independent_key FROM run_order WHERE run_id = 1;
