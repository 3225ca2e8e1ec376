-- SPDX-License-Identifier: Apache-2.0
-- Run 1 is older than run 3 of the same plan. A merge may assign a lower id to a later invocation, so the start time
-- decides.
UPDATE invocation SET started_at = '2026-01-01T00:00:00.000Z' WHERE invocation_id = 2;
UPDATE run SET status = 'failed' WHERE run_id = 1;
INSERT INTO run
SELECT
  5,
  1,
  2,
  plugin_id,
  workload,
  title,
  family,
  family_order,
  case_key,
  settings_key,
  plan_key,
  suite,
  suite_case,
  label,
  1,
  ranks,
  device_kind,
  timing,
  sync,
  warmup,
  steps,
  until_relative_error,
  passes,
  seed,
  'ok',
  detail,
  verification,
  exit_code,
  signal,
  failed_rank,
  failed_pass,
  failed_phase,
  failed_step,
  started_at,
  ended_at,
  keep
FROM run
WHERE run_id = 1;
SELECT
  run_id,
  plan_key,
  repetition,
  status
FROM current_run
ORDER BY run_id;
