-- SPDX-License-Identifier: Apache-2.0
-- How long steps and phases took.

-- Time of each phase of each run, in milliseconds: on the device's clock where there is one, else on the host's.
CREATE VIEW phase_time AS
SELECT r.run_id,                                  -- the run
       r.invocation_id,                           -- its invocation
       r.workload,                                -- its workload
       r.case_key,                                -- what is compared
       r.plan_key,                                -- what makes runs repetitions
       r.label,                                   -- its label
       r.suite,                                   -- its suite
       r.suite_case,                              -- name of the case within the suite
       r.repetition,                              -- 0, 1, 2 ... of --repeat
       r.ranks,                                   -- processes; of each step the slowest counts
       r.status,                                  -- its status
       r.verification,                            -- its verification
       s.phase,                                   -- phase, or `step` for the whole step
       s.clock,                                   -- host or device
       s.count,                                   -- samples
       s.mean_ns / 1e6 AS mean_ms,                -- mean
       s.std_ns / 1e6 AS std_ms,                  -- standard deviation
       s.median_ns / 1e6 AS median_ms,            -- median
       s.min_ns / 1e6 AS min_ms,                  -- smallest
       s.max_ns / 1e6 AS max_ms,                  -- largest
       s.ci_low_ns / 1e6 AS ci_low_ms,            -- lower end of the 95 % confidence interval of the mean
       s.ci_high_ns / 1e6 AS ci_high_ms,          -- upper end
       s.p95_ns / 1e6 AS p95_ms,                  -- 95th percentile; NULL below 100 samples
       s.excluded,                                -- samples left out as throttled
       s.all_throttled                            -- 1 if every sample was throttled
FROM run r
JOIN statistic s ON s.run_id = r.run_id
WHERE s.clock = 'device'
   OR NOT EXISTS (SELECT 1 FROM statistic d WHERE d.run_id = s.run_id AND d.phase = s.phase AND d.clock = 'device');

-- Rates of each phase whose work was declared, over all ranks; those of `step` count the work of all phases.
CREATE VIEW throughput AS
SELECT t.run_id,                                  -- the run
       t.workload,                                -- its workload
       t.suite_case,                              -- name of the case within the suite
       t.phase,                                   -- phase, or `step` for the whole step
       t.clock,                                   -- host or device
       t.mean_ms,                                 -- mean time, of the slowest rank
       t.flops,                                   -- floating-point operations of all ranks; NULL if not declared
       t.bytes,                                   -- bytes moved by all ranks; NULL if not declared
       t.flops / (t.mean_ms / 1e3) AS flops_per_s,  -- floating-point operations per second
       t.bytes / (t.mean_ms / 1e3) AS bytes_per_s,  -- bytes per second
       t.flops / t.bytes AS flops_per_byte        -- arithmetic intensity
FROM (
  SELECT p.run_id, p.workload, p.suite_case, p.phase, p.clock, nullif(p.mean_ms, 0) AS mean_ms,
         (SELECT nullif(sum(w.flops), 0) FROM work w WHERE w.run_id = p.run_id AND (w.phase = p.phase OR p.phase = 'step')) AS flops,
         (SELECT nullif(sum(w.bytes), 0) FROM work w WHERE w.run_id = p.run_id AND (w.phase = p.phase OR p.phase = 'step')) AS bytes
  FROM phase_time p
  WHERE EXISTS (SELECT 1 FROM work w WHERE w.run_id = p.run_id AND (w.phase = p.phase OR p.phase = 'step'))
) t;

-- Time of each phase in each step of the time pass, in milliseconds: of each step the slowest rank counts.
CREATE VIEW step_time AS
SELECT s.run_id,                                         -- the run
       s.step,                                           -- counts from 0, warm-up steps included
       s.phase,                                          -- phase, or `step` for the whole step
       s.warmup,                                         -- 1 for a warm-up step
       s.throttled,                                      -- 1 if the GPU of some rank was slowed down
       coalesce(s.device_ns, s.host_ns) / 1e6 AS time_ms,  -- on the device's clock where every rank has it, else on the host's
       s.host_ns / 1e6 AS host_ms,                       -- on the host's clock
       s.device_ns / 1e6 AS device_ms                    -- on the device's clock; NULL on a CPU
FROM step_duration s;

-- Each step of each time pass on the host's clock, warm-up included, with how it compares to the run's median step.
CREATE VIEW warmup_steps AS
SELECT s.run_id,                           -- the run
       s.step,                             -- counts from 0, warm-up steps included
       s.warmup,                           -- 1 for a warm-up step
       s.throttled,                        -- 1 if the GPU of some rank was slowed down
       s.host_ns / 1e6 AS time_ms,         -- time of the slowest rank
       s.host_ns / m.median_ns AS ratio    -- over the median of the steps that count; NULL if none does
FROM step_duration s
LEFT JOIN statistic m ON m.run_id = s.run_id AND m.phase = 'step' AND m.clock = 'host'
WHERE s.phase = 'step';

-- The figures that workloads reported themselves.
CREATE VIEW reported_metric AS
SELECT m.run_id,    -- the run
       m.rank,      -- rank that reported it
       m.pass,      -- pass it was reported in
       m.sequence,  -- order of reporting within the pass
       m.level,     -- run, step or phase
       m.step,      -- step it belongs to; NULL for a figure of the run
       m.phase,     -- phase it belongs to, or empty
       m.name,      -- name of the figure
       m.value,     -- number or text
       m.unit       -- unit of a number
FROM (SELECT run_id, rank, pass, sequence, level, nullif(step, -1) AS step, phase, name, value, unit FROM metric) m;
