-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- Run 21 is the baseline of the comparison group; 41, 43 and 44 have none. A newer baseline of an earlier
-- invocation has lower priority.
INSERT INTO run
SELECT
  50,
  1,
  50,
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
  repetition,
  ranks,
  device_kind,
  timing,
  sync,
  warmup,
  steps,
  until_relative_error,
  passes,
  seed,
  status,
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
WHERE run_id = 21;
INSERT INTO param
SELECT
  50,
  name,
  position,
  type,
  title,
  setting,
  choice,
  value
FROM param
WHERE run_id = 21;
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(50, 0, 'time', 0, 'run', -1, '', 'backend', 'nccl', '');
INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr)
SELECT
  50,
  rank,
  pass,
  pid,
  host,
  status,
  device_id,
  stdout,
  stderr
FROM rank
WHERE run_id = 21;
INSERT INTO statistic (run_id, phase, clock, count, excluded, all_throttled, mean_ns, median_ns, min_ns, max_ns) VALUES
(50, 'step', 'device', 1, 0, 0, 1e6, 1e6, 1e6, 1e6);
SELECT * FROM ddp_summary ORDER BY run_id;
