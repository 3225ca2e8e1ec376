-- SPDX-License-Identifier: Apache-2.0
UPDATE run SET suite = 'quick', label = 'after' WHERE run_id = 4;
SELECT
  run_id,
  invocation_id,
  suite,
  label,
  plan_key,
  settings_key,
  start_order
FROM run_order
ORDER BY run_id;
