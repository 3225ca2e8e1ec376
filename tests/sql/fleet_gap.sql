-- SPDX-License-Identifier: Apache-2.0
-- Case a succeeded on three of four hosts, and its newest run on host 3 failed; case b on two, and the others did not
-- run it; case c on one, which is too few. Host 1 has an older failure of case a.
INSERT INTO device (device_id, uuid, kind, name, memory_bytes)
SELECT
  100 + value,
  'GPU-' || value,
  'cuda',
  'H',
  1
FROM json_each('[0, 1, 2, 3, 4, 5, 6, 7]');
INSERT INTO invocation (invocation_id, uuid, command, started_at)
SELECT
  100 + value,
  'fleet-' || value,
  'kymo suite run node',
  '2026-03-01'
FROM json_each('[0, 1, 2, 3]');
INSERT INTO environment (invocation_id, name, value)
SELECT
  100 + value,
  'host',
  'n' || value
FROM json_each('[0, 1, 2, 3]');
INSERT INTO run (
  run_id, invocation_id, sequence, plugin_id, workload, family, case_key, settings_key, plan_key, suite, suite_case,
  label, repetition, ranks, device_kind, timing, sync, warmup, steps, passes, seed, status, detail, verification,
  failed_pass, failed_phase, started_at
)
SELECT
  v.column1,
  100 + v.column2,
  v.column1,
  1,
  'w',
  '',
  v.column3,
  's',
  'p',
  'node',
  v.column3,
  '',
  0,
  2,
  'cuda',
  'sync',
  'step',
  1,
  2,
  'time',
  0,
  v.column4,
  CASE v.column4 WHEN 'ok' THEN '' ELSE 'why' END,
  '',
  '',
  '',
  v.column5
FROM (
  VALUES
  (100, 0, 'a', 'ok', '2026-03-02'),
  (101, 1, 'a', 'failed', '2026-03-01'),
  (102, 1, 'a', 'ok', '2026-03-02'),
  (103, 2, 'a', 'ok', '2026-03-02'),
  (104, 3, 'a', 'ok', '2026-03-01'),
  (105, 3, 'a', 'oom', '2026-03-02'),
  (106, 0, 'b', 'ok', '2026-03-02'),
  (107, 1, 'b', 'ok', '2026-03-02'),
  (108, 2, 'c', 'ok', '2026-03-02')
) v;
-- The host of the worker, where it is known, is that of the run.
INSERT INTO rank (run_id, rank, pass, pid, host, status, stdout, stderr) VALUES (108, 0, 'time', 1, 'n3', 'ok', '', '');
SELECT * FROM fleet_gap ORDER BY host, suite_case;
