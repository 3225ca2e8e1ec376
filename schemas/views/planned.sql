-- SPDX-License-Identifier: Apache-2.0
-- Runs that were planned and did not begin.

-- Planned runs that neither their invocation nor another one has begun: the command was killed, interrupted or ended by
-- an error before, or has not come to them yet. Runs begin in the order of the plan, so that they are those after the
-- newest run. Runs that were skipped, for example by --max-time, have a row in `run`.
CREATE VIEW unstarted_run AS
WITH invocation_progress AS (
  SELECT
    i.invocation_id,
    i.started_at,
    i.ended_at,
    i.exit_code,
    coalesce((SELECT max(r.sequence) FROM run r WHERE r.invocation_id = i.invocation_id), -1) AS newest_sequence
  FROM invocation i
),
unstarted AS (
  SELECT
    p.*,
    i.started_at,
    i.ended_at,
    i.exit_code,
    EXISTS(
      SELECT 1
      FROM run r
      WHERE r.invocation_id = i.invocation_id AND r.sequence = i.newest_sequence AND r.status = 'running'
    ) AS is_running
  FROM invocation_progress i
  CROSS JOIN planned_run p ON p.invocation_id = i.invocation_id AND p.sequence > i.newest_sequence
  LEFT JOIN run r ON r.settings_key = p.settings_key AND r.repetition = p.repetition
  WHERE r.run_id IS NULL
),
newest AS (
  SELECT
    u.*,
    row_number() OVER (
      PARTITION BY u.settings_key, u.repetition ORDER BY u.started_at DESC, u.invocation_id DESC, u.sequence
    ) AS position
  FROM unstarted u
),
varying AS (
  SELECT
    p.invocation_id,
    p.suite_case,
    p.workload,
    j.key AS name
  FROM (SELECT DISTINCT u.invocation_id FROM unstarted u) u
  CROSS JOIN planned_run p ON p.invocation_id = u.invocation_id
  CROSS JOIN json_each(p.parameters) j
  GROUP BY p.invocation_id, p.suite_case, p.workload, j.key
  HAVING min(j.value) <> max(j.value)
),
varying_settings AS (
  SELECT
    p.invocation_id,
    p.suite_case,
    p.workload,
    min(p.ranks) <> max(p.ranks) AS ranks,
    min(p.warmup) <> max(p.warmup) AS warmup,
    min(p.repetition) <> max(p.repetition) AS repetition
  FROM (SELECT DISTINCT u.invocation_id FROM unstarted u) u
  CROSS JOIN planned_run p ON p.invocation_id = u.invocation_id
  GROUP BY p.invocation_id, p.suite_case, p.workload
)
SELECT
  -- newest invocation that planned it
  n.invocation_id,
  -- 0, 1, 2 ... in the order of execution
  n.sequence,
  -- suite name, or empty
  n.suite,
  -- case name within the suite, or empty
  n.suite_case,
  -- value of --label, or empty
  n.label,
  -- name of the workload
  n.workload,
  -- JSON object of all parameters
  n.parameters,
  -- distinguishes it from other planned runs of its case; NULL if they do not differ
  nullif(
    substr(
      coalesce(
        (
          SELECT group_concat(t.part, '')
          FROM (
            SELECT
              ', ' || j.key || '='
              || CASE WHEN j.type IN ('true', 'false') THEN j.type ELSE CAST(j.value AS TEXT) END AS part
            FROM json_each(n.parameters) j
            JOIN varying v
              ON v.invocation_id = n.invocation_id
              AND v.suite_case = n.suite_case
              AND v.workload = n.workload
              AND v.name = j.key
            ORDER BY j.key
          ) t
        ),
        ''
      )
      || CASE WHEN s.ranks THEN ', ranks=' || n.ranks ELSE '' END
      || CASE WHEN s.warmup THEN ', warm-up=' || n.warmup ELSE '' END
      || CASE WHEN s.repetition THEN ', repetition=' || (n.repetition + 1) ELSE '' END,
      3
    ),
    ''
  ) AS title_in_case,
  -- number of processes
  n.ranks,
  -- cpu or cuda
  n.device_kind,
  -- number of warm-up steps
  n.warmup,
  -- index of the repetition (--repeat), from 0
  n.repetition,
  -- hash of workload, parameters, ranks, device kind, timing and sync
  n.case_key,
  -- hash of the case, its place in the suite and the measurement settings
  n.settings_key,
  -- hash of the case, how it is measured, the plugin and its libraries
  n.plan_key,
  -- 1 while its invocation executes another run
  n.is_running,
  -- how its invocation ended before it, or that it is still running
  CASE
    WHEN n.is_running THEN 'the command is still running'
    WHEN n.ended_at IS NULL THEN 'the command was killed, or has not come to it yet'
    WHEN n.exit_code > 128
      THEN
        'the command was interrupted by '
        || CASE n.exit_code - 128
          WHEN 1 THEN 'SIGHUP' WHEN 2 THEN 'SIGINT' WHEN 15 THEN 'SIGTERM' ELSE 'signal ' || (n.exit_code - 128)
        END
    ELSE 'the command ended before it, with exit code ' || n.exit_code
  END AS reason
FROM newest n
JOIN varying_settings s
  ON s.invocation_id = n.invocation_id AND s.suite_case = n.suite_case AND s.workload = n.workload
WHERE n.position = 1;
