-- SPDX-License-Identifier: Apache-2.0
-- Runs 1 and 3 are of the same case on the same machine; run 2 is of another case, and run 4 on another machine. The
-- verify pass does not count. Of the 40 runs of a fourth case, each is slower than the one before, and the two fastest
-- are faster than the best state.
INSERT INTO device (device_id, uuid, kind, name, memory_bytes) VALUES (3, 'cpu-2', 'cpu', 'A processor', 1000);
UPDATE run SET case_key = 'cp1' WHERE run_id = 4;
INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr) VALUES
(1, 0, 'time', 1, 'a', 'ok', 1, '', ''), (1, 0, 'verify', 1, 'a', 'ok', 1, '', ''),
(2, 0, 'time', 1, 'a', 'ok', 1, '', ''), (3, 0, 'time', 1, 'a', 'ok', 1, '', ''),
(4, 0, 'time', 1, 'b', 'ok', 3, '', '');
INSERT INTO reference_loop (run_id, rank, pass, step, duration_ns) VALUES
(1, 0, 'time', 0, 10000), (1, 0, 'time', 4, 10500), (1, 0, 'time', 9, 10501), (1, 0, 'time', 12, 18000),
(1, 0, 'verify', 0, 1), (2, 0, 'time', 0, 20000), (3, 0, 'time', 0, 15000), (3, 0, 'time', 9, 19000),
(3, 0, 'time', 12, 16000), (4, 0, 'time', 0, 12000), (4, 0, 'time', 12, 12000);
WITH RECURSIVE number (n) AS (
  SELECT 0
  UNION ALL
  SELECT n + 1 FROM number WHERE n < 39
)
INSERT INTO run (
  run_id,
  invocation_id,
  sequence,
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
  timing, sync, warmup, steps, passes, seed, status, detail, verification, failed_pass, failed_phase, started_at
)
SELECT
  100 + n,
  2,
  100 + n,
  1,
  'saxpy',
  'many',
  'many',
  'many',
  '',
  '',
  '',
  n,
  1,
  'cpu',
  'sync',
  'step',
  1,
  3,
  'time',
  0,
  'ok',
  '',
  '',
  '',
  '',
  '2026-01-05T00:00:00.000Z'
FROM number;
INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr)
SELECT
  run_id,
  0,
  'time',
  1,
  'a',
  'ok',
  1,
  '',
  ''
FROM run
WHERE case_key = 'many';
INSERT INTO reference_loop (run_id, rank, pass, step, duration_ns)
SELECT
  run_id,
  0,
  'time',
  0,
  10000 + 100 * (run_id - 100)
FROM run
WHERE case_key = 'many';
SELECT * FROM machine_slowdown WHERE run_id < 108 ORDER BY run_id;
