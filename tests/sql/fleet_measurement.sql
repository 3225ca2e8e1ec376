-- SPDX-License-Identifier: Apache-2.0
-- Four hosts with two GPUs each: run 100 + host of the family peak, which the second GPU of host 2 makes 10 % slower,
-- and run 200 + host of two ranks, which is too few of a kind to judge. Run 110 of host 0 is older than run 100.
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
  r.run_id,
  100 + r.run_id % 10,
  r.run_id,
  1,
  'w' || (r.run_id / 100),
  CASE r.run_id / 100 WHEN 1 THEN 'peak' ELSE '' END,
  'c' || (r.run_id / 100),
  's',
  'p',
  'node',
  'case ' || (r.run_id / 100),
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
  'ok',
  '',
  '',
  '',
  '',
  CASE r.run_id WHEN 110 THEN '2026-02-28' ELSE '2026-03-01' END
FROM (
  SELECT CAST(value AS INTEGER) AS run_id FROM json_each('[100, 101, 102, 103, 110, 200, 201, 202, 203]')
) r;
INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr)
SELECT
  r.run_id,
  k.value,
  'time',
  1,
  'n' || (r.run_id % 10),
  'ok',
  100 + 2 * (r.run_id % 10) + k.value,
  '',
  ''
FROM run r
CROSS JOIN json_each('[0, 1]') k
WHERE r.run_id >= 100;
INSERT INTO sample (
  run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, device_ns
)
SELECT
  k.run_id,
  k.rank,
  'time',
  s.value,
  'step',
  s.value = 0,
  0,
  1,
  0,
  9,
  CASE
    WHEN s.value = 0 OR k.run_id = 110 THEN 5000000 WHEN k.run_id = 102 AND k.rank = 1 THEN 1100000
    ELSE 1000000 + 1000 * (k.device_id % 4)
  END
FROM rank k
CROSS JOIN json_each('[0, 1, 2]') s
WHERE k.run_id >= 100;
INSERT INTO gpu_sample (run_id, rank, pass, step, time_ns, throttle_reasons, sm_clock_mhz)
SELECT
  k.run_id,
  k.rank,
  'time',
  1,
  0,
  0,
  CASE WHEN k.run_id = 102 AND k.rank = 1 THEN 1500 ELSE 1900 END
FROM rank k
WHERE k.run_id >= 100;
INSERT INTO statistic (
  run_id, phase, clock, count, excluded, all_throttled, mean_ns, median_ns, min_ns, max_ns
)
SELECT
  r.run_id,
  'step',
  'device',
  2,
  0,
  0,
  2000000 + 1000 * (r.run_id % 10),
  2000000 + 1000 * (r.run_id % 10),
  0,
  0
FROM run r
WHERE r.run_id >= 100;
SELECT
  run_id,
  rank,
  part,
  host,
  device_name,
  device_uuid,
  suite,
  suite_case,
  workload,
  case_key,
  time_ms,
  measurements,
  median_ms,
  mad_ms,
  excess,
  limit_excess,
  verdict,
  sm_clock_mhz,
  mean_sm_clock_mhz
FROM fleet_measurement
ORDER BY run_id, rank;
-- The others spread so much that 10 % is no outlier.
UPDATE sample SET device_ns = device_ns + 40000 * (rank + run_id % 4) WHERE run_id <> 102 OR rank = 0;
SELECT
  verdict,
  max(excess) AS excess,
  max(limit_excess) AS limit_excess
FROM fleet_measurement
WHERE suite_case = 'case 1'
GROUP BY verdict;
