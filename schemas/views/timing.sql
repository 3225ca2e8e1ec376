-- SPDX-License-Identifier: Apache-2.0
-- How long steps and phases took.

-- Time of each phase of each run, in milliseconds: on the device's clock where there is one, else on the host's.
CREATE VIEW phase_time AS
SELECT
  -- the run
  r.run_id,
  -- its invocation
  r.invocation_id,
  -- its workload
  r.workload,
  -- what is compared
  r.case_key,
  -- what makes runs repetitions
  r.plan_key,
  -- its label
  r.label,
  -- its suite
  r.suite,
  -- name of the case within the suite
  r.suite_case,
  -- 0, 1, 2 ... of --repeat
  r.repetition,
  -- processes; of each step the slowest counts
  r.ranks,
  -- its status
  r.status,
  -- its verification
  r.verification,
  -- phase, or `step` for the whole step
  s.phase,
  -- host or device
  s.clock,
  -- samples
  s.count,
  -- mean
  s.mean_ns / 1e6 AS mean_ms,
  -- standard deviation
  s.std_ns / 1e6 AS std_ms,
  -- median
  s.median_ns / 1e6 AS median_ms,
  -- smallest
  s.min_ns / 1e6 AS min_ms,
  -- largest
  s.max_ns / 1e6 AS max_ms,
  -- lower end of the 95 % confidence interval of the mean
  s.ci_low_ns / 1e6 AS ci_low_ms,
  -- upper end
  s.ci_high_ns / 1e6 AS ci_high_ms,
  -- 95th percentile; NULL below 100 samples
  s.p95_ns / 1e6 AS p95_ms,
  -- samples left out as throttled
  s.excluded,
  -- 1 if every sample was throttled
  s.all_throttled
FROM run r
JOIN statistic s ON s.run_id = r.run_id
WHERE
  s.clock = 'device'
  OR NOT EXISTS (SELECT 1 FROM statistic d WHERE d.run_id = s.run_id AND d.phase = s.phase AND d.clock = 'device');

-- Rates of each phase whose work was declared, over all ranks; those of `step` count the work of all phases.
CREATE VIEW throughput AS
SELECT
  -- the run
  t.run_id,
  -- its workload
  t.workload,
  -- name of the case within the suite
  t.suite_case,
  -- phase, or `step` for the whole step
  t.phase,
  -- host or device
  t.clock,
  -- mean time, of the slowest rank
  t.mean_ms,
  -- floating-point operations of all ranks; NULL if not declared
  t.flops,
  -- bytes moved by all ranks; NULL if not declared
  t.bytes,
  -- floating-point operations per second
  t.flops / (t.mean_ms / 1e3) AS flops_per_s,
  -- bytes per second
  t.bytes / (t.mean_ms / 1e3) AS bytes_per_s,
  -- arithmetic intensity
  t.flops / t.bytes AS flops_per_byte
FROM (
  SELECT
    p.run_id,
    p.workload,
    p.suite_case,
    p.phase,
    p.clock,
    nullif(p.mean_ms, 0) AS mean_ms,
    (
      SELECT nullif(sum(w.flops), 0)
      FROM work w
      WHERE w.run_id = p.run_id AND (w.phase = p.phase OR p.phase = 'step')
    ) AS flops,
    (
      SELECT nullif(sum(w.bytes), 0)
      FROM work w
      WHERE w.run_id = p.run_id AND (w.phase = p.phase OR p.phase = 'step')
    ) AS bytes
  FROM phase_time p
  WHERE EXISTS (SELECT 1 FROM work w WHERE w.run_id = p.run_id AND (w.phase = p.phase OR p.phase = 'step'))
) t;

-- Time of each phase in each step of the time pass, in milliseconds: of each step the slowest rank counts.
CREATE VIEW step_time AS
SELECT
  -- the run
  s.run_id,
  -- counts from 0, warm-up steps included
  s.step,
  -- phase, or `step` for the whole step
  s.phase,
  -- 1 for a warm-up step
  s.warmup,
  -- 1 if the GPU of some rank was slowed down
  s.throttled,
  -- on the device's clock where every rank has it, else on the host's
  coalesce(s.device_ns, s.host_ns) / 1e6 AS time_ms,
  -- on the host's clock
  s.host_ns / 1e6 AS host_ms,
  -- on the device's clock; NULL on a CPU
  s.device_ns / 1e6 AS device_ms
FROM step_duration s;

-- Each step of each time pass on the host's clock, warm-up included, with how it compares to the run's median step.
CREATE VIEW warmup_steps AS
SELECT
  -- the run
  s.run_id,
  -- counts from 0, warm-up steps included
  s.step,
  -- 1 for a warm-up step
  s.warmup,
  -- 1 if the GPU of some rank was slowed down
  s.throttled,
  -- time of the slowest rank
  s.host_ns / 1e6 AS time_ms,
  -- over the median of the steps that count; NULL if none does
  s.host_ns / m.median_ns AS ratio
FROM step_duration s
LEFT JOIN statistic m ON m.run_id = s.run_id AND m.phase = 'step' AND m.clock = 'host'
WHERE s.phase = 'step';

-- The figures that workloads reported themselves.
CREATE VIEW reported_metric AS
SELECT
  -- the run
  m.run_id,
  -- rank that reported it
  m.rank,
  -- pass it was reported in
  m.pass,
  -- order of reporting within the pass
  m.sequence,
  -- run, step or phase
  m.level,
  -- step it belongs to; NULL for a figure of the run
  m.step,
  -- phase it belongs to, or empty
  m.phase,
  -- name of the figure
  m.name,
  -- number or text
  m.value,
  -- unit of a number
  m.unit
FROM (
  SELECT
    run_id,
    rank,
    pass,
    sequence,
    level,
    nullif(step, -1) AS step,
    phase,
    name,
    value,
    unit
  FROM metric
) m;
