-- SPDX-License-Identifier: Apache-2.0

-- The runs that a report takes: of each plan key and label the newest invocation's, whatever their status.
CREATE VIEW current_run AS
SELECT r.*
FROM run r
JOIN (SELECT plan_key, label, max(invocation_id) AS invocation_id FROM run GROUP BY plan_key, label) newest
  ON newest.plan_key = r.plan_key AND newest.label = r.label AND newest.invocation_id = r.invocation_id;

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
       s.excluded,                                -- samples left out as throttled
       s.all_throttled                            -- 1 if every sample was throttled
FROM run r
JOIN statistic s ON s.run_id = r.run_id
WHERE s.clock = 'device'
   OR NOT EXISTS (SELECT 1 FROM statistic d WHERE d.run_id = s.run_id AND d.phase = s.phase AND d.clock = 'device');
