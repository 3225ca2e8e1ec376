-- SPDX-License-Identifier: Apache-2.0
-- Runs 1 to 4 copy on the processor at 20, 25, 40 and 50 GB/s: run 3 failed, and run 4 is not of the family. Runs 5
-- to 7 are matrix products: two data types on the processor, one on the GPU, whose clock is known for each step. Run 8
-- was not timed.
INSERT INTO run
SELECT
  r.run_id + 4,
  r.invocation_id,
  r.sequence + 4,
  r.plugin_id,
  r.workload,
  r.title,
  r.family,
  r.family_order,
  r.case_key,
  r.settings_key,
  r.plan_key,
  r.suite,
  r.suite_case,
  r.label,
  r.repetition,
  r.ranks,
  r.device_kind,
  r.timing,
  r.sync,
  r.warmup,
  r.steps,
  r.until_relative_error,
  r.passes,
  r.seed,
  r.status,
  r.detail,
  r.verification,
  r.exit_code,
  r.signal,
  r.failed_rank,
  r.failed_pass,
  r.failed_phase,
  r.failed_step,
  r.started_at,
  r.ended_at,
  r.keep
FROM run r;
UPDATE run SET family = 'peak', verification = 'passed' WHERE run_id <> 4;
UPDATE run SET status = 'failed' WHERE run_id = 3;
INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr)
SELECT
  run_id,
  0,
  'time',
  1,
  'h',
  'ok',
  CASE run_id WHEN 7 THEN 2 ELSE 1 END,
  '',
  ''
FROM run;
INSERT INTO param (run_id, name, type, value)
SELECT
  run_id,
  'kind',
  'text',
  CASE WHEN run_id < 5 THEN 'copy' ELSE 'matmul' END
FROM run
UNION ALL
SELECT
  run_id,
  'dtype',
  'text',
  CASE run_id WHEN 6 THEN 'bf16' ELSE 'fp32' END
FROM run;
INSERT INTO work (run_id, rank, phase, flops, bytes)
SELECT
  run_id,
  0,
  'operation',
  CASE WHEN run_id < 5 THEN 0 ELSE 1e9 END,
  1e9
FROM run;
WITH timed (run_id, clock, median_ms) AS (
  VALUES
  (1, 'host', 50), (2, 'host', 40), (3, 'host', 25), (4, 'host', 20), (5, 'host', 10), (6, 'host', 5), (7, 'host', 2),
  (7, 'device', 1)
)
INSERT INTO statistic (
  run_id,
  phase,
  clock,
  count,
  excluded,
  all_throttled,
  mean_ns,
  median_ns,
  min_ns,
  max_ns,
  median_low_ns,
  median_high_ns
)
SELECT
  run_id,
  'operation',
  clock,
  10,
  0,
  0,
  1e6 * median_ms,
  1e6 * median_ms,
  0,
  0,
  0.8e6 * median_ms,
  1.25e6 * median_ms
FROM timed;
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(2, 0, 'verify', 0, 'run', -1, '', 'clock', 1000.0, 'MHz'), (2, 0, 'time', 0, 'run', -1, '', 'clock', 3600.0, 'MHz');
INSERT INTO gpu_sample (run_id, rank, pass, step, time_ns, sm_clock_mhz, memory_clock_mhz, throttle_reasons) VALUES
(7, 0, 'time', 0, 0, 345, 1000, 0), (7, 0, 'time', 1, 1, 1900, 2619, 0), (7, 0, 'time', 2, 2, 1800, 2619, 0),
(7, 0, 'verify', 2, 2, 100, 100, 0);
INSERT INTO warning (run_id, rank, pass, sequence, kind, detail) VALUES
(6, 0, 'time', 0, 'short steps', ''), (6, 0, 'time', 1, 'short steps', ''), (1, 0, 'time', 0, 'short steps', '');
