-- SPDX-License-Identifier: Apache-2.0
-- What ran, and how it ended.

-- What decides which of several runs is current: when its invocation started, and which other runs are alike.
CREATE VIEW run_place AS
SELECT r.run_id,                                                         -- the run
       r.invocation_id,                                                  -- its invocation
       r.suite,                                                          -- name of the suite, or empty
       r.label,                                                          -- its label, or empty
       r.plan_key,                                                       -- what makes runs repetitions
       quote(r.case_key) || quote(r.suite) || quote(r.suite_case) || quote(r.mode) || quote(r.sync) || r.warmup || ' ' || r.steps || ' ' || quote(r.until_relative_error)
         || quote(r.passes) || r.seed AS alike,                          -- the same for runs of one case of a suite that were measured in one way, whatever the build of the plugin
       i.started_at || printf(' %019d', i.invocation_id) AS place        -- orders invocations by their start
FROM run r
JOIN invocation i ON i.invocation_id = r.invocation_id;

-- The runs that a report takes unless told otherwise: of each plan those of the invocation that started last, whatever their status and label; and likewise of runs that are alike but for the build of the plugin, so that a new build takes the place of an old one.
CREATE VIEW current_run AS
SELECT r.*  -- every column of run
FROM run r
JOIN (
  SELECT p.run_id, p.place, max(p.place) OVER (PARTITION BY p.plan_key) AS newest_of_plan, max(p.place) OVER (PARTITION BY p.alike) AS newest_alike FROM run_place p
) k ON k.run_id = r.run_id AND k.place = k.newest_of_plan AND k.place = k.newest_alike;

-- One row per run: what it was, how it ended, and the time of its step.
CREATE VIEW run_list AS
SELECT r.run_id,                                             -- the run
       r.invocation_id,                                      -- its invocation
       r.started_at,                                         -- when it started, in UTC
       r.suite,                                              -- name of the suite, or empty
       r.suite_case,                                         -- name of the case within the suite, or empty
       r.label,                                              -- its label, or empty
       r.workload,                                           -- its workload
       coalesce((SELECT group_concat(t.word, ' ') FROM (
         SELECT p.name || '=' || CASE WHEN p.type <> 'bool' THEN p.value WHEN p.value THEN 'true' ELSE 'false' END AS word
         FROM param p WHERE p.run_id = r.run_id ORDER BY p.name) t), '') AS parameters,  -- all its parameters in one line, by name
       r.ranks,                                              -- processes
       r.device_kind,                                        -- cpu or cuda
       (SELECT d.name FROM rank k JOIN device d ON d.device_id = k.device_id
        WHERE k.run_id = r.run_id ORDER BY k.pass <> 'time', k.rank LIMIT 1) AS device_name,  -- model of the first rank's device; NULL if none was reached
       r.repetition,                                         -- 0, 1, 2 ... of --repeat
       r.status,                                             -- how it ended
       r.detail,                                             -- why it is not ok
       CASE r.verification WHEN 'unavailable' THEN 'not verified' WHEN '' THEN 'not asked' ELSE r.verification END AS verification,  -- passed, failed, not verified or not asked
       s.clock,                                              -- clock of the times: device or host
       s.count,                                              -- samples of the step
       s.mean_ns / 1e6 AS step_mean_ms,                      -- mean time of the step
       s.std_ns / 1e6 AS step_std_ms,                        -- its standard deviation
       s.median_ns / 1e6 AS step_median_ms,                  -- its median
       s.all_throttled,                                      -- 1 if every sample was throttled
       (SELECT count(*) FROM loss l WHERE l.run_id = r.run_id) AS losses  -- entries in the list of what is missing
FROM run r
LEFT JOIN statistic s
  ON s.run_id = r.run_id AND s.phase = 'step'
 AND s.clock = (SELECT min(c.clock) FROM statistic c WHERE c.run_id = r.run_id AND c.phase = 'step');

-- Each parameter of each run, with its value as text beside it.
CREATE VIEW run_parameter AS
SELECT p.run_id,  -- the run
       p.name,    -- name of the parameter
       p.type,    -- int, real, bool or text
       p.value,   -- its value in its own type; bool as 0 or 1
       CASE WHEN p.type <> 'bool' THEN CAST(p.value AS TEXT) WHEN p.value THEN 'true' ELSE 'false' END AS text  -- its value for people
FROM param p;

-- The runs that did not end well, with the last words of the worker that failed first.
CREATE VIEW failures AS
SELECT r.run_id,         -- the run
       r.invocation_id,  -- its invocation
       r.suite_case,     -- name of the case within the suite, or empty
       r.workload,       -- its workload
       r.status,         -- oom, failed, crashed, timeout or interrupted
       r.detail,         -- why, in one line
       r.failed_rank,    -- rank that failed first; NULL if none in particular
       r.failed_pass,    -- pass it was in, or empty
       r.failed_phase,   -- phase or stage it was in, or empty
       r.failed_step,    -- step it was in; NULL outside a step
       r.exit_code,      -- of that rank's worker, if it exited
       r.signal,         -- that ended that rank's worker
       (SELECT substr(k.stderr, -1000) FROM rank k
        WHERE k.run_id = r.run_id AND k.rank = r.failed_rank AND k.pass = r.failed_pass) AS last_words  -- end of its standard error
FROM run r
WHERE r.status NOT IN ('ok', 'running', 'skipped');

-- The facts of the machine that each invocation ran on.
CREATE VIEW environment_fact AS
SELECT e.invocation_id,  -- the invocation
       i.started_at,     -- when it started, in UTC
       e.name,           -- name of the fact
       e.value           -- the fact
FROM environment e
JOIN invocation i ON i.invocation_id = e.invocation_id;
