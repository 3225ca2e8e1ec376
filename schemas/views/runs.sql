-- SPDX-License-Identifier: Apache-2.0
-- Runs and how they ended.

-- The order of runs that determines which one is current.
CREATE VIEW run_order AS
SELECT
  -- run
  r.run_id,
  -- invocation
  r.invocation_id,
  -- suite name, or empty
  r.suite,
  -- its label, or empty
  r.label,
  -- runs with the same key are repetitions
  r.plan_key,
  -- equal for runs of the same suite case with the same measurement settings, whatever the build of the plugin
  r.settings_key,
  -- sort key: start time and id of the invocation
  i.started_at || printf(' %019d', i.invocation_id) AS start_order
FROM run r
JOIN invocation i ON i.invocation_id = r.invocation_id;

-- The profile of the suite that each invocation ran: what follows --profile and a separator in its command line.
CREATE VIEW invocation_profile AS
SELECT
  -- invocation
  t.invocation_id,
  -- profile
  trim(substr(t.words, 1, instr(t.words, ' ') - 1), '''"') AS profile
FROM (
  SELECT
    i.invocation_id,
    substr(i.command, instr(i.command, ' --profile') + length(' --profile=')) || ' ' AS words
  FROM invocation i
  WHERE i.command LIKE '% suite run % --profile%'
) t;

-- The runs that a report selects by default: for each plan those of the newest invocation, whatever their status and
-- label. Runs that differ only in the plugin build also replace each other.
CREATE VIEW current_run AS
-- every column of run
SELECT r.*
FROM run r
JOIN (
  SELECT
    p.run_id,
    p.start_order,
    max(p.start_order) OVER (PARTITION BY p.plan_key) AS newest_of_plan,
    max(p.start_order) OVER (PARTITION BY p.settings_key) AS newest_of_settings
  FROM run_order p
) k ON k.run_id = r.run_id AND k.start_order = k.newest_of_plan AND k.start_order = k.newest_of_settings;

-- One row per run: case, status and step time.
CREATE VIEW run_list AS
SELECT
  -- run
  r.run_id,
  -- invocation
  r.invocation_id,
  -- when it started, in UTC
  r.started_at,
  -- suite name, or empty
  r.suite,
  -- case name within the suite, or empty
  r.suite_case,
  -- its label, or empty
  r.label,
  -- workload
  r.workload,
  -- all parameters in one line, sorted by name
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
  -- number of processes
  r.ranks,
  -- cpu or cuda
  r.device_kind,
  -- model name of the first rank's device; NULL if the run did not get that far
  (
    SELECT d.name
    FROM rank k
    JOIN device d ON d.device_id = k.device_id
    WHERE k.run_id = r.run_id
    ORDER BY k.pass <> 'time', k.rank
    LIMIT 1
  ) AS device_name,
  -- index of the repetition (--repeat), from 0
  r.repetition,
  -- status
  r.status,
  -- reason if the status is not ok
  r.detail,
  -- passed, failed, not verified (no reference, or the run ended before) or not requested
  CASE r.verification
    WHEN 'unavailable' THEN 'not verified'
    WHEN '' THEN CASE WHEN ',' || r.passes || ',' LIKE '%,verify,%' THEN 'not verified' ELSE 'not requested' END
    ELSE r.verification
  END AS verification,
  -- clock of the times: device or host
  s.clock,
  -- number of step samples
  s.count,
  -- mean step time
  s.mean_ns / 1e6 AS step_mean_ms,
  -- standard deviation
  s.std_ns / 1e6 AS step_std_ms,
  -- its median
  s.median_ns / 1e6 AS step_median_ms,
  -- lower end of the confidence interval of the median; see phase_time
  s.median_low_ns / 1e6 AS step_median_low_ms,
  -- upper end of that interval
  s.median_high_ns / 1e6 AS step_median_high_ms,
  -- 1 if every sample was throttled
  s.all_throttled,
  -- number of rows in run_dropped_record
  (SELECT count(*) FROM dropped_record l WHERE l.run_id = r.run_id) AS dropped_records
FROM run r
LEFT JOIN statistic s
  ON s.run_id = r.run_id
  AND s.phase = 'step'
  AND s.clock = (SELECT min(c.clock) FROM statistic c WHERE c.run_id = r.run_id AND c.phase = 'step');

-- Each parameter of each run, with its value as text and as titles show it.
CREATE VIEW run_parameter AS
SELECT
  -- run
  p.run_id,
  -- parameter name
  p.name,
  -- 0, 1, 2 ... in declaration order
  p.position,
  -- int, real, bool or text
  p.type,
  -- value in its own type; bool as 0 or 1
  p.value,
  -- value as text
  p.text,
  -- the value, or for `auto` the selected one if the workload reported it as a metric with the name of the parameter
  p.effective,
  -- as shown in titles, for example `10 MiB`; empty if titles do not show it. A format may contain titles of choices:
  -- `{cudnn=cuDNN|math=unfused}`
  replace(
    p.title,
    p.placeholder,
    CASE
      WHEN p.from_own_title <> '' THEN substr(p.from_own_title, 1, instr(p.from_own_title, '|') - 1)
      WHEN p.type = 'real' THEN printf('%.15g', p.value)
      WHEN p.type = 'bool' THEN p.text
      ELSE p.effective
    END
  ) AS title,
  -- 1 if runs are compared only if they agree on the parameter; otherwise it distinguishes variants
  p.setting,
  -- index of the value among the choices; NULL without choices
  p.choice
FROM (
  SELECT
    o.*,
    CASE
      WHEN o.placeholder = '{}' THEN ''
      WHEN instr('|' || trim(o.placeholder, '{}'), '|' || CAST(o.effective AS TEXT) || '=')
        THEN
          substr(
            trim(o.placeholder, '{}') || '|',
            instr('|' || trim(o.placeholder, '{}'), '|' || CAST(o.effective AS TEXT) || '=')
            + length(CAST(o.effective AS TEXT))
            + 1
          )
      ELSE ''
    END AS from_own_title
  FROM (
    SELECT
      q.*,
      CASE WHEN q.type <> 'bool' THEN CAST(q.value AS TEXT) WHEN q.value THEN 'true' ELSE 'false' END AS text,
      CASE
        WHEN q.value = 'auto'
          THEN
            coalesce(
              (
                SELECT m.value
                FROM metric m
                WHERE m.run_id = q.run_id AND m.name = q.name AND m.level = 'run'
                ORDER BY m.pass <> 'time', m.sequence
                LIMIT 1
              ),
              q.value
            )
        ELSE q.value
      END AS effective,
      CASE
        WHEN instr(q.title, '=')
          THEN substr(q.title, instr(q.title, '{'), instr(q.title, '}') - instr(q.title, '{') + 1)
        ELSE '{}'
      END AS placeholder
    FROM param q
  ) o
) p;

-- How reports name each run, as declared by its workload: the family, the variant, and the settings that must be equal
-- for runs to be compared. A part of a title that begins with a space follows the previous part without a comma.
CREATE VIEW run_series AS
SELECT
  -- run
  t.run_id,
  -- workloads that are compared with each other, or empty
  t.family,
  -- sort order of the workload within its family
  t.family_order,
  -- workload and variant; for example `bucketed, 10 MiB`
  coalesce(nullif(ltrim(t.title || t.variant, ', '), ''), t.workload) AS title,
  -- parameters that distinguish the run from others of its workload; empty if none is shown
  ltrim(t.variant, ', ') AS variant,
  -- settings and number of ranks
  ltrim(t.setting || ', ' || t.ranks, ', ') || CASE t.ranks WHEN 1 THEN ' rank' ELSE ' ranks' END AS setting,
  -- 1 for the baseline of the family: the workload with order 0, without a variant
  t.family <> '' AND t.family_order = 0 AND t.variant = '' AS is_baseline,
  -- equal for runs that can be compared: settings, number of ranks, synchronization and machine
  t.setting_key || t.ranks || '|' || t.sync || '|' || t.machine AS comparison_group
FROM (
  SELECT
    r.*,
    m.machine,
    coalesce(
      (
        SELECT group_concat(part, '')
        FROM (
          SELECT CASE WHEN p.title LIKE ' %' THEN '' ELSE ', ' END || p.title AS part
          FROM run_parameter p
          WHERE p.run_id = r.run_id AND p.setting = 0 AND p.title <> ''
          ORDER BY p.position
        )
      ),
      ''
    ) AS variant,
    coalesce(
      (
        SELECT group_concat(part, '')
        FROM (
          SELECT CASE WHEN p.title LIKE ' %' THEN '' ELSE ', ' END || p.title AS part
          FROM run_parameter p
          WHERE p.run_id = r.run_id AND p.setting = 1 AND p.title <> ''
          ORDER BY p.position
        )
      ),
      ''
    ) AS setting,
    coalesce(
      (
        SELECT group_concat(part, '')
        FROM (
          SELECT p.name || '=' || p.effective || '|' AS part
          FROM run_parameter p
          WHERE p.run_id = r.run_id AND p.setting = 1
          ORDER BY p.name
        )
      ),
      ''
    ) AS setting_key
  FROM run r
  JOIN run_machine m ON m.run_id = r.run_id
) t;

-- Failed runs, with the last output of the worker that failed first.
CREATE VIEW failures AS
SELECT
  -- run
  r.run_id,
  -- invocation
  r.invocation_id,
  -- case name within the suite, or empty
  r.suite_case,
  -- workload
  r.workload,
  -- oom, failed, crashed, timeout or interrupted
  r.status,
  -- details, in one line
  r.detail,
  -- rank that failed first; NULL if it cannot be attributed to one rank
  r.failed_rank,
  -- pass in which it failed, or empty
  r.failed_pass,
  -- phase or stage in which it failed, or empty
  r.failed_phase,
  -- step in which it failed; NULL outside a step
  r.failed_step,
  -- exit code of that worker, if it exited
  r.exit_code,
  -- signal that terminated that worker
  r.signal,
  -- end of its standard error
  (
    SELECT substr(k.stderr, -1000)
    FROM rank k
    WHERE k.run_id = r.run_id AND k.rank = r.failed_rank AND k.pass = r.failed_pass
  ) AS stderr_tail
FROM run r
WHERE r.status NOT IN ('ok', 'running', 'skipped');

-- The properties of the machine of each invocation.
CREATE VIEW environment_fact AS
SELECT
  -- invocation
  e.invocation_id,
  -- when it started, in UTC
  i.started_at,
  -- property name
  e.name,
  -- value
  e.value
FROM environment e
JOIN invocation i ON i.invocation_id = e.invocation_id;

-- The commit of the project that each run measured. Runs outside of git repositories have none.
CREATE VIEW run_commit AS
SELECT
  -- run
  c.run_id,
  -- name of the root folder of the main working tree
  c.project,
  -- full hash
  c.hash,
  -- its first ten digits
  substr(c.hash, 1, 10) AS short_hash,
  -- full hashes of its parents, separated by spaces
  c.parents,
  -- time of the commit in UTC, ISO 8601
  c.committed_at,
  -- branch; NULL if HEAD was detached
  c.branch,
  -- 1 if tracked files differed from the commit; NULL if git did not tell in time
  c.dirty
FROM source_commit c;
