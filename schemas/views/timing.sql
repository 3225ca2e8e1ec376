-- SPDX-License-Identifier: Apache-2.0
-- Step and phase times.

-- Time of each phase of each run, in milliseconds: on the device clock if available, otherwise on the host clock.
-- `time_ms` is the mean or the median, whichever represents the run (`statistic`).
CREATE VIEW phase_time AS
SELECT
  -- run
  r.run_id,
  -- invocation
  r.invocation_id,
  -- workload
  r.workload,
  -- identifies what is compared
  r.case_key,
  -- runs with the same key are repetitions
  r.plan_key,
  -- label
  r.label,
  -- suite
  r.suite,
  -- name of the case within the suite
  r.suite_case,
  -- index of the repetition (--repeat), from 0
  r.repetition,
  -- number of processes; the slowest rank determines each step
  r.ranks,
  -- status
  r.status,
  -- verification
  r.verification,
  -- phase, or `step` for the whole step
  s.phase,
  -- host or device
  s.clock,
  -- number of samples
  s.count,
  -- mean
  s.mean_ns / 1e6 AS mean_ms,
  -- standard deviation
  s.std_ns / 1e6 AS std_ms,
  -- median
  s.median_ns / 1e6 AS median_ms,
  -- lower end of the confidence interval of the median, at a level of 95 % or more from six samples on
  s.median_low_ns / 1e6 AS median_low_ms,
  -- upper end of that interval
  s.median_high_ns / 1e6 AS median_high_ms,
  -- confidence level of that interval; NULL for one sample
  s.median_confidence,
  -- minimum
  s.min_ns / 1e6 AS min_ms,
  -- maximum
  s.max_ns / 1e6 AS max_ms,
  -- lower end of the 95 % confidence interval of the mean
  s.ci_low_ns / 1e6 AS ci_low_ms,
  -- upper end of that interval
  s.ci_high_ns / 1e6 AS ci_high_ms,
  -- number of consecutive samples in a block of that interval; NULL: it is Student's t of single samples
  s.block_steps,
  -- what represents the run, in comparisons and where one time is shown: `mean`, the time of all steps per step, for
  -- programs (timing free) and where steps are not alike, otherwise `median`
  s.statistic,
  -- the mean or the median, whichever represents the run
  CASE s.statistic WHEN 'mean' THEN s.mean_ns ELSE s.median_ns END / 1e6 AS time_ms,
  -- lower end of its confidence interval
  CASE s.statistic WHEN 'mean' THEN s.ci_low_ns ELSE s.median_low_ns END / 1e6 AS time_low_ms,
  -- upper end of that interval
  CASE s.statistic WHEN 'mean' THEN s.ci_high_ns ELSE s.median_high_ns END / 1e6 AS time_high_ms,
  -- share of slow samples among all: those of more than 1.5 times the median; NULL if unknown
  1.0 * s.slow_count / s.count AS slow_share,
  -- share of the time of all samples that they take
  s.slow_ns / nullif(s.count * s.mean_ns, 0) AS slow_time_share,
  -- share of fast samples: those of less than the median divided by 1.5; NULL if unknown
  1.0 * s.fast_count / s.count AS fast_share,
  -- share of the time of all samples that they take
  s.fast_ns / nullif(s.count * s.mean_ns, 0) AS fast_time_share,
  -- which samples make the mean differ from the median, if it does by more than 5 %; otherwise empty
  CASE
    WHEN abs(s.mean_ns - s.median_ns) <= 0.05 * s.median_ns THEN ''
    WHEN s.mean_ns > s.median_ns AND s.slow_count > 0
      THEN
        printf(
          '%.3g %% of the steps take more than 1.5 times the median; they are %.3g %% of the time',
          100.0 * s.slow_count / s.count,
          100 * s.slow_ns / (s.count * s.mean_ns)
        )
    WHEN s.mean_ns < s.median_ns AND s.fast_count > 0
      THEN
        printf(
          '%.3g %% of the steps take less than the median divided by 1.5; they are %.3g %% of the time',
          100.0 * s.fast_count / s.count,
          100 * s.fast_ns / (s.count * s.mean_ns)
        )
    ELSE printf('the mean is %.3g times the median', s.mean_ns / s.median_ns)
  END AS unlike_steps,
  -- 95th percentile; NULL for fewer than 100 samples
  s.p95_ns / 1e6 AS p95_ms,
  -- number of samples excluded as throttled
  s.excluded,
  -- 1 if every sample was throttled
  s.all_throttled
FROM run r
JOIN (
  SELECT
    t.*,
    coalesce(t.represented_by, CASE w.timing WHEN 'free' THEN 'mean' ELSE 'median' END) AS statistic
  FROM statistic t
  JOIN run w ON w.run_id = t.run_id
) s ON s.run_id = r.run_id
WHERE
  s.clock = 'device'
  OR NOT EXISTS (SELECT 1 FROM statistic d WHERE d.run_id = s.run_id AND d.phase = s.phase AND d.clock = 'device');

-- Declared work and rates per rank of each phase with declared work, comparable to the peaks of a device: the mean
-- over the ranks of the run, divided by the time of the slowest rank. `step` counts the work of all phases. Multiply by
-- `ranks` for the total of the run.
CREATE VIEW throughput AS
SELECT
  -- run
  t.run_id,
  -- workload
  t.workload,
  -- name of the case within the suite
  t.suite_case,
  -- phase, or `step` for the whole step
  t.phase,
  -- host or device
  t.clock,
  -- number of ranks of the run
  t.ranks,
  -- time of the slowest rank: the mean or the median, whichever represents the run
  t.time_ms,
  -- floating-point operations per rank; NULL if not declared
  t.flops,
  -- bytes of memory traffic per rank; NULL if not declared
  t.bytes,
  -- floating-point operations per second and rank
  t.flops / (t.time_ms / 1e3) AS flops_per_s,
  -- bytes per second and rank
  t.bytes / (t.time_ms / 1e3) AS bytes_per_s,
  -- arithmetic intensity
  t.flops / t.bytes AS flops_per_byte
FROM (
  SELECT
    p.run_id,
    p.workload,
    p.suite_case,
    p.phase,
    p.clock,
    r.ranks,
    nullif(p.time_ms, 0) AS time_ms,
    nullif(w.flops, 0) / r.ranks AS flops,
    nullif(w.bytes, 0) / r.ranks AS bytes
  FROM (
    SELECT
      run_id,
      phase,
      sum(flops) AS flops,
      sum(bytes) AS bytes
    FROM work
    WHERE phase <> 'step'
    GROUP BY run_id, phase
    UNION ALL
    SELECT
      run_id,
      'step',
      sum(flops),
      sum(bytes)
    FROM work
    GROUP BY run_id
  ) w
  JOIN run r ON r.run_id = w.run_id
  JOIN phase_time p ON p.run_id = w.run_id AND p.phase = w.phase
) t;

-- Time of each phase in each step of the time pass, in milliseconds; the slowest rank determines each step.
CREATE VIEW step_time AS
SELECT
  -- run
  s.run_id,
  -- step number from 0, including warm-up steps
  s.step,
  -- phase, or `step` for the whole step
  s.phase,
  -- 1 for a warm-up step
  s.warmup,
  -- 1 if the GPU of any rank was throttled
  s.throttled,
  -- on the device clock if every rank has it, otherwise on the host clock
  coalesce(s.device_ns, s.host_ns) / 1e6 AS time_ms,
  -- on the host clock
  s.host_ns / 1e6 AS host_ms,
  -- on the device clock; NULL on a CPU
  s.device_ns / 1e6 AS device_ms,
  -- start on rank 0, host clock, relative to the start of the run
  (
    SELECT x.start_ns
    FROM sample x
    WHERE x.run_id = s.run_id AND x.rank = 0 AND x.pass = 'time' AND x.step = s.step AND x.phase = s.phase
  ) AS start_ns,
  -- SM clock of the first rank with a reading, directly after the step; NULL without a reading
  (
    SELECT g.sm_clock_mhz
    FROM gpu_sample g
    WHERE g.run_id = s.run_id AND g.pass = 'time' AND g.step = s.step
    ORDER BY g.rank
    LIMIT 1
  ) AS sm_clock_mhz,
  -- processor time of all threads and ranks; NULL for a phase
  (
    SELECT sum(c.cpu_ns) / 1e6
    FROM sample c
    WHERE c.run_id = s.run_id AND c.pass = 'time' AND c.step = s.step AND c.phase = s.phase
  ) AS cpu_ms,
  -- number of times that a thread of any rank lost its processor although it could run; NULL for a phase
  (
    SELECT sum(c.involuntary_switches)
    FROM sample c
    WHERE c.run_id = s.run_id AND c.pass = 'time' AND c.step = s.step AND c.phase = s.phase
  ) AS involuntary_switches
FROM step_duration s;

-- Each step of each time pass on the host clock, including warm-up, relative to the run's median step.
CREATE VIEW warmup_steps AS
SELECT
  -- run
  s.run_id,
  -- step number from 0, including warm-up steps
  s.step,
  -- 1 for a warm-up step
  s.warmup,
  -- 1 if the GPU of any rank was throttled
  s.throttled,
  -- time of the slowest rank
  s.host_ns / 1e6 AS time_ms,
  -- time over the median of the measured steps; NULL if there are none
  s.host_ns / m.median_ns AS ratio
FROM step_duration s
LEFT JOIN statistic m ON m.run_id = s.run_id AND m.phase = 'step' AND m.clock = 'host'
WHERE s.phase = 'step';

-- The metrics reported by the workloads.
CREATE VIEW reported_metric AS
SELECT
  -- run
  m.run_id,
  -- rank that reported it
  m.rank,
  -- pass in which it was reported
  m.pass,
  -- reporting order within the pass
  m.sequence,
  -- run, step or phase
  m.level,
  -- step it belongs to; NULL for a metric of the run
  m.step,
  -- phase it belongs to, or empty
  m.phase,
  -- metric name
  m.name,
  -- number or text
  m.value,
  -- unit of a numeric value
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

-- The measured steps of each pass and rank.
CREATE VIEW _measured_step AS
SELECT
  -- run
  s.run_id,
  -- rank
  s.rank,
  -- pass
  s.pass,
  -- step number from 0, including warm-up steps
  s.step,
  -- start, host clock, relative to the start of the run
  s.start_ns,
  -- duration on the host clock
  s.host_ns,
  -- duration on the device clock; NULL on a CPU
  s.device_ns
FROM sample s
WHERE s.phase = 'step' AND s.warmup = 0;

-- The passes that record less than another one.
CREATE VIEW _lesser_pass AS
WITH pair (pass, lesser) AS (
  VALUES
  ('trace', 'time'),
  ('ops', 'time'),
  ('ops', 'trace'),
  ('memory', 'time'),
  ('memory', 'trace'),
  ('memory', 'ops'),
  ('counters', 'time'),
  ('counters', 'trace'),
  ('counters', 'ops'),
  ('counters', 'memory')
)
SELECT
  -- pass
  p.pass,
  -- one that records less
  p.lesser
FROM pair p;

-- Time of each phase in each step of each pass and rank. Passes other than `time` record the steps, which takes time
-- itself: see trace_overhead.
CREATE VIEW pass_step_time AS
SELECT
  -- run
  s.run_id,
  -- rank
  s.rank,
  -- pass
  s.pass,
  -- step number from 0, including warm-up steps
  s.step,
  -- phase, or `step` for the whole step
  s.phase,
  -- 1 for a warm-up step
  s.warmup,
  -- start, host clock, relative to the start of the run
  s.start_ns,
  -- on the host clock
  s.host_ns / 1e6 AS host_ms,
  -- on the device clock; NULL on a CPU
  s.device_ns / 1e6 AS device_ms,
  -- 1 if the pass records the least of all passes of the run: the first of time, trace, ops and memory. The counters
  -- pass waits for the device at the ends of phases, so its times are never used
  s.pass <> 'counters' AND NOT EXISTS (
    SELECT 1
    FROM _lesser_pass l
    CROSS JOIN sample x ON x.run_id = s.run_id AND x.rank = s.rank AND x.pass = l.lesser
    WHERE l.pass = s.pass
  ) AS is_least_observed
FROM sample s;
