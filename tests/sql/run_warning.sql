-- SPDX-License-Identifier: Apache-2.0
UPDATE run SET verification = 'passed' WHERE run_id IN (1, 3);
INSERT INTO rank (run_id, rank, pass, pid, host, status, stdout, stderr, trace_status) VALUES
(4, 0, 'trace', 1, 'h', 'ok', '', '', 'events only'), (4, 1, 'trace', 1, 'h', 'ok', '', '', 'events only');
UPDATE run SET status = 'timeout', detail = 'no progress for 600 s' WHERE run_id = 2;
INSERT INTO statistic (run_id, phase, clock, count, excluded, all_throttled, mean_ns, median_ns, min_ns, max_ns) VALUES
(1, 'step', 'host', 8, 2, 0, 1, 1, 1, 1), (1, 'forward', 'host', 8, 2, 0, 1, 1, 1, 1),
(3, 'step', 'host', 5, 0, 1, 1, 1, 1, 1);
INSERT INTO dropped_record (run_id, rank, pass, sequence, source, count, detail) VALUES
(3, 0, 'time', 0, 'cuda', 7, 'buffer full'), (3, -1, '', 0, 'store', -1, ''),
(1, 0, 'time', 0, 'suspended', 1, ''), (4, 0, 'trace', 0, 'suspended', 2, ''),
(4, 0, 'time', 0, 'suspended', 1, ''), (1, -1, 'time', 0, 'detached', 2, 'sleep, sh'),
(4, 1, 'time', 0, 'detached', 1, 'sleep');
INSERT INTO statistic (run_id, phase, clock, count, excluded, all_throttled, mean_ns, median_ns, min_ns, max_ns) VALUES
(4, 'step', 'host', 9, 1, 0, 1, 1, 1, 1);
INSERT INTO warning (run_id, rank, pass, sequence, kind, detail) VALUES
(3, 0, 'time', 0, 'launch overhead', '2 batches: late'), (3, 0, 'time', 1, 'unused phases', 'first'),
(3, 1, 'time', 0, 'unused phases', 'first');
-- Run 1: rank 1 waited most. Run 3: too little. Run 4: no waits are known, but threads lost their processor.
INSERT INTO scheduling (
  run_id, rank, pass, step, steps, start_ns, wall_ns, cpu_ns, involuntary_switches, wait_ns, longest_wait_ns,
  load_average
) VALUES
(1, 0, 'time', 9, 5, 0, 1000, 900, 0, 100, 100, 2.25), (1, 1, 'time', 9, 5, 0, 1000, 900, 0, 800, 430, 2.5),
(3, 0, 'time', 9, 5, 0, 1000, 900, 50, 100, 99, 2.5), (4, 0, 'time', 9, 5, 0, 4e8, 1e8, 7, NULL, NULL, NULL);
-- Only observed programs report other profilers, several times if they use them again.
UPDATE run SET timing = 'free' WHERE run_id = 3;
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(3, 0, 'ops', 0, 'run', -1, '', 'other_profiler', 'torch.profiler', ''),
(3, 0, 'ops', 1, 'run', -1, '', 'other_profiler', 'torch.profiler', ''),
(4, 0, 'ops', 0, 'run', -1, '', 'other_profiler', 'torch.profiler', '');
-- The intervals of the mean of run 1, which waited for a processor, and of the median of run 3 are wide: these
-- represent the runs. Those of the other statistic are not.
UPDATE statistic SET mean_ns = 8e6, std_ns = 3e6, median_ns = 2e6 WHERE run_id IN (1, 3) AND phase = 'step';
UPDATE statistic SET ci_low_ns = 2e6, ci_high_ns = 13e6, median_low_ns = 1.9e6, median_high_ns = 2.1e6
WHERE run_id = 1 AND phase = 'step';
UPDATE statistic SET ci_low_ns = 7.9e6, ci_high_ns = 8.1e6, median_low_ns = 1.5e6, median_high_ns = 6e6
WHERE run_id = 3 AND phase = 'step';
UPDATE statistic SET median_low_ns = median_ns * 0.6, median_high_ns = median_ns * 1.4, std_ns = 0 WHERE run_id = 4;
-- Two ranks dropped records for the same reason.
INSERT INTO dropped_record (run_id, rank, pass, sequence, source, count, detail) VALUES
(4, 0, 'ops', 0, 'store', 3, 'disk full'), (4, 1, 'ops', 0, 'store', 4, 'disk full');
-- Both runs are unstable; the mean represents the first one, whose steps differ as the warning says.
UPDATE statistic SET slow_count = 1, slow_ns = 5e7, represented_by = CASE run_id WHEN 1 THEN 'mean' ELSE 'median' END;
-- Both ranks of run 3 and two of its passes assumed where most of their steps begin, those of the first rank and of the
-- time pass for two reasons. Only a warm-up step of run 1 is an assumption. What was not observed is told once.
INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, device_ns)
WITH r (run_id) AS (VALUES (1), (3)),
k (rank) AS (VALUES (0), (1)),
p (pass) AS (VALUES ('ops'), ('time')),
s (step) AS (VALUES (0), (1), (2), (3), (4))
SELECT
  r.run_id,
  k.rank,
  p.pass,
  s.step,
  'step',
  s.step = 0,
  0,
  1,
  s.step,
  1,
  NULL
FROM r
CROSS JOIN k
CROSS JOIN p
CROSS JOIN s;
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit)
SELECT
  x.run_id,
  x.rank,
  x.pass,
  900 + x.step,
  'step',
  x.step,
  '',
  'assumed_step_boundary',
  CASE x.step WHEN 4 THEN 'assumed: another reason' ELSE 'assumed: a reason' END,
  ''
FROM sample x
WHERE x.phase = 'step' AND (x.run_id = 3 AND x.step <> 1 AND (x.pass = 'ops' OR x.step <> 2) OR x.step = 0);
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(3, 0, 'ops', 800, 'run', -1, '', 'not_observed', 'the first step', ''),
(3, 1, 'ops', 800, 'run', -1, '', 'not_observed', 'the first step', ''),
(3, 0, 'time', 800, 'run', -1, '', 'not_observed', 'the first step', '');
SELECT * FROM run_warning ORDER BY run_id, kind, detail;
