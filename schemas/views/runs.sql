-- SPDX-License-Identifier: Apache-2.0
-- What ran, and how it ended.

-- What decides which of several runs is current: when its invocation started, and which other runs are alike.
CREATE VIEW run_place AS
SELECT
  -- the run
  r.run_id,
  -- its invocation
  r.invocation_id,
  -- name of the suite, or empty
  r.suite,
  -- its label, or empty
  r.label,
  -- what makes runs repetitions
  r.plan_key,
  -- the same for runs of one case of a suite that were measured in one way, whatever the build of the plugin
  quote(r.case_key) || quote(r.suite) || quote(r.suite_case) || quote(r.mode) || quote(r.sync) || r.warmup || ' '
  || r.steps || ' ' || quote(r.until_relative_error) || quote(r.passes) || r.seed AS alike,
  -- orders invocations by their start
  i.started_at || printf(' %019d', i.invocation_id) AS place
FROM run r
JOIN invocation i ON i.invocation_id = r.invocation_id;

-- The runs that a report takes unless told otherwise: of each plan those of the invocation that started last, whatever
-- their status and label; and likewise of runs that are alike but for the build of the plugin, so that a new build
-- takes the place of an old one.
CREATE VIEW current_run AS
-- every column of run
SELECT r.*
FROM run r
JOIN (
  SELECT
    p.run_id,
    p.place,
    max(p.place) OVER (PARTITION BY p.plan_key) AS newest_of_plan,
    max(p.place) OVER (PARTITION BY p.alike) AS newest_alike
  FROM run_place p
) k ON k.run_id = r.run_id AND k.place = k.newest_of_plan AND k.place = k.newest_alike;

-- One row per run: what it was, how it ended, and the time of its step.
CREATE VIEW run_list AS
SELECT
  -- the run
  r.run_id,
  -- its invocation
  r.invocation_id,
  -- when it started, in UTC
  r.started_at,
  -- name of the suite, or empty
  r.suite,
  -- name of the case within the suite, or empty
  r.suite_case,
  -- its label, or empty
  r.label,
  -- its workload
  r.workload,
  -- all its parameters in one line, by name
  coalesce(
    (
      SELECT group_concat(t.word, ' ')
      FROM (
        SELECT
          p.name || '='
          || CASE WHEN p.type <> 'bool' THEN p.value WHEN p.value THEN 'true' ELSE 'false' END AS word
        FROM param p
        WHERE p.run_id = r.run_id
        ORDER BY p.name
      ) t
    ),
    ''
  ) AS parameters,
  -- processes
  r.ranks,
  -- cpu or cuda
  r.device_kind,
  -- model of the first rank's device; NULL if none was reached
  (
    SELECT d.name
    FROM rank k
    JOIN device d ON d.device_id = k.device_id
    WHERE k.run_id = r.run_id
    ORDER BY k.pass <> 'time', k.rank
    LIMIT 1
  ) AS device_name,
  -- 0, 1, 2 ... of --repeat
  r.repetition,
  -- how it ended
  r.status,
  -- why it is not ok
  r.detail,
  -- passed, failed, not verified or not asked
  CASE r.verification
    WHEN 'unavailable' THEN 'not verified'
    WHEN '' THEN 'not asked'
    ELSE r.verification
  END AS verification,
  -- clock of the times: device or host
  s.clock,
  -- samples of the step
  s.count,
  -- mean time of the step
  s.mean_ns / 1e6 AS step_mean_ms,
  -- its standard deviation
  s.std_ns / 1e6 AS step_std_ms,
  -- its median
  s.median_ns / 1e6 AS step_median_ms,
  -- 1 if every sample was throttled
  s.all_throttled,
  -- entries in the list of what is missing
  (SELECT count(*) FROM loss l WHERE l.run_id = r.run_id) AS losses
FROM run r
LEFT JOIN statistic s
  ON s.run_id = r.run_id
  AND s.phase = 'step'
  AND s.clock = (SELECT min(c.clock) FROM statistic c WHERE c.run_id = r.run_id AND c.phase = 'step');

-- Each parameter of each run, with its value as text beside it.
CREATE VIEW run_parameter AS
SELECT
  -- the run
  p.run_id,
  -- name of the parameter
  p.name,
  -- int, real, bool or text
  p.type,
  -- its value in its own type; bool as 0 or 1
  p.value,
  -- its value for people
  CASE WHEN p.type <> 'bool' THEN CAST(p.value AS TEXT) WHEN p.value THEN 'true' ELSE 'false' END AS text
FROM param p;

-- The runs that did not end well, with the last words of the worker that failed first.
CREATE VIEW failures AS
SELECT
  -- the run
  r.run_id,
  -- its invocation
  r.invocation_id,
  -- name of the case within the suite, or empty
  r.suite_case,
  -- its workload
  r.workload,
  -- oom, failed, crashed, timeout or interrupted
  r.status,
  -- why, in one line
  r.detail,
  -- rank that failed first; NULL if none in particular
  r.failed_rank,
  -- pass it was in, or empty
  r.failed_pass,
  -- phase or stage it was in, or empty
  r.failed_phase,
  -- step it was in; NULL outside a step
  r.failed_step,
  -- of that rank's worker, if it exited
  r.exit_code,
  -- that ended that rank's worker
  r.signal,
  -- end of its standard error
  (
    SELECT substr(k.stderr, -1000)
    FROM rank k
    WHERE k.run_id = r.run_id AND k.rank = r.failed_rank AND k.pass = r.failed_pass
  ) AS last_words
FROM run r
WHERE r.status NOT IN ('ok', 'running', 'skipped');

-- The facts of the machine that each invocation ran on.
CREATE VIEW environment_fact AS
SELECT
  -- the invocation
  e.invocation_id,
  -- when it started, in UTC
  i.started_at,
  -- name of the fact
  e.name,
  -- the fact
  e.value
FROM environment e
JOIN invocation i ON i.invocation_id = e.invocation_id;
