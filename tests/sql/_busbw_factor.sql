-- SPDX-License-Identifier: Apache-2.0
-- Every operation with 2, 4 and 6 ranks: messages of 12 MB that take 1 ms.
SELECT
  operation,
  scale * (2 - excluded) / 2 AS of_2,
  scale * (4 - excluded) / 4 AS of_4,
  scale * (6 - excluded) / 6 AS of_6
FROM _busbw_factor
ORDER BY operation;
CREATE TEMP TABLE size (ranks INTEGER);
INSERT INTO size VALUES (2), (4), (6);
CREATE TEMP TABLE rank_number (rank INTEGER);
INSERT INTO rank_number VALUES (0), (1), (2), (3), (4), (5);
CREATE TEMP TABLE measured (number INTEGER PRIMARY KEY, operation TEXT);
INSERT INTO measured (operation)
SELECT operation
FROM _busbw_factor
WHERE operation NOT IN ('send', 'receive', 'barrier')
ORDER BY operation;
-- Runs 100 to 699 measure one operation each.
INSERT INTO run (
  run_id, invocation_id, sequence, plugin_id, workload, family, case_key, settings_key, plan_key, suite, suite_case,
  label, repetition, ranks, device_kind, timing, sync, warmup, steps, passes, seed, status, detail, verification,
  failed_pass, failed_phase, started_at
)
SELECT
  100 * s.ranks + o.number,
  1,
  100 * s.ranks + o.number,
  1,
  'all_reduce',
  'collective',
  o.operation || s.ranks,
  o.operation || s.ranks,
  o.operation || s.ranks,
  '',
  '',
  '',
  0,
  s.ranks,
  'cpu',
  'sync',
  'step',
  1,
  2,
  'time,trace',
  0,
  'ok',
  '',
  'passed',
  '',
  '',
  '2026-01-03T00:00:00.000Z'
FROM measured o, size s;
INSERT INTO param (run_id, name, type, value)
SELECT
  100 * s.ranks + o.number,
  'operation',
  'text',
  o.operation
FROM measured o, size s
UNION ALL
SELECT
  100 * s.ranks + o.number,
  'bytes',
  'int',
  12000000
FROM measured o, size s;
INSERT INTO statistic (run_id, phase, clock, count, excluded, all_throttled, mean_ns, median_ns, min_ns, max_ns)
SELECT
  100 * s.ranks + o.number,
  'step',
  'host',
  1,
  0,
  0,
  2e6,
  1e6,
  1e6,
  3e6
FROM measured o, size s;
SELECT
  operation,
  ranks,
  algbw_gb_s,
  busbw_gb_s
FROM all_reduce_bandwidth
ORDER BY operation, ranks;
-- The trace of the first run of each size has every operation: once by itself, and as a group of two
-- calls of 6 MB each. What rank 0 sends to rank 1 has a communicator of its own.
INSERT INTO string (string_id, text) VALUES (1001, 'single'), (1002, 'group'), (1003, 'pair');
INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, device_ns)
SELECT
  100 * s.ranks + 1,
  k.rank,
  'trace',
  1,
  'step',
  0,
  0,
  1,
  0,
  1000000000,
  NULL
FROM size s
JOIN rank_number k ON k.rank < s.ranks;
INSERT INTO clock_sync (run_id, rank, pass, sequence, clock, host_ns, clock_ns, error_ns)
SELECT
  100 * s.ranks + 1,
  k.rank,
  'trace',
  0,
  'supervisor',
  0,
  0,
  10
FROM size s
JOIN rank_number k ON k.rank < s.ranks;
WITH call (communicator_id, call_number, bytes, kernels) AS (
  VALUES (1001, 0, 12000000, 1), (1002, 0, 6000000, 1), (1002, 1, 6000000, 1)
)
INSERT INTO collective (
  run_id, rank, pass, sequence, communicator_id, call_number, operation, bytes, group_ranks, on_device, enqueue_ns,
  returned_ns, start_ns, end_ns, kernels, step, phase_id, scope_id, attribution
)
SELECT
  100 * s.ranks + 1,
  k.rank,
  'trace',
  10 * o.number + 2 * (c.communicator_id - 1001) + c.call_number,
  c.communicator_id,
  2 * o.number + c.call_number,
  o.operation,
  c.bytes,
  s.ranks,
  1,
  4000000 * o.number,
  4000000 * o.number,
  4000000 * o.number + 2000000 * (c.communicator_id - 1001),
  4000000 * o.number + 2000000 * (c.communicator_id - 1001) + 1000000,
  c.kernels,
  1,
  NULL,
  NULL,
  'none'
FROM measured o, size s, call c
JOIN rank_number k ON k.rank < s.ranks
UNION ALL
SELECT
  201,
  k.rank,
  'trace',
  200,
  1003,
  0,
  CASE k.rank WHEN 0 THEN 'send' ELSE 'receive' END,
  12000000,
  2,
  1,
  0,
  0,
  0,
  1000000,
  1,
  1,
  NULL,
  NULL,
  'none'
FROM rank_number k
WHERE k.rank < 2;
SELECT
  communicator,
  operation,
  ranks,
  launches,
  calls,
  bytes,
  bus_bytes,
  algbw_gb_s,
  busbw_gb_s
FROM collective_summary
WHERE run_id BETWEEN 200 AND 699
ORDER BY communicator, operation, ranks;
