-- SPDX-License-Identifier: Apache-2.0
-- Timeline of a step. Each column of timeline_bar has the same affinity in all parts of the UNION, so that SQLite can
-- flatten the view into a join and read only the rows of one run. For the same reason, the ORDER BY of a query on it
-- must name result columns only.

-- Every recorded event as a bar in a lane: phases, scopes, operators and collectives on the host, kernels and copies on
-- the GPU. Filter by run, rank, pass and step: the underlying tables are large.
CREATE VIEW timeline_bar AS
SELECT
  -- run
  g.run_id,
  -- rank on which it was recorded
  g.rank,
  -- pass in which it occurred
  g.pass,
  -- step; −1 outside of steps
  g.step,
  -- host or GPU
  'host' AS side,
  -- sort order of the lanes
  0 AS lane_order,
  -- thread, stream, `phases`, `copies` or `collectives`
  'thread ' || g.thread AS lane,
  -- start, host clock, relative to the start of the run
  g.start_ns,
  -- end; NULL if the event did not end
  g.end_ns,
  -- name
  coalesce(n.text, '') AS label,
  -- phase, scope, operator, copy, memset, communication, or the kernel class
  coalesce(g.kind, '') AS class,
  -- details, or empty
  coalesce(q.text, '') AS detail
FROM "range" g
JOIN string n ON n.string_id = g.name_id
LEFT JOIN string q ON q.string_id = g.scope_id
UNION ALL
SELECT
  o.run_id,
  o.rank,
  o.pass,
  o.step,
  'host',
  0,
  'thread ' || o.thread,
  o.start_ns,
  o.end_ns,
  coalesce(n.text, ''),
  'operator',
  coalesce(h.text || ' ', '') || coalesce('in ' || q.text, '')
FROM op o
JOIN string n ON n.string_id = o.name_id
LEFT JOIN string h ON h.string_id = o.shapes_id
LEFT JOIN string q ON q.string_id = o.scope_id
UNION ALL
SELECT
  c.run_id,
  c.rank,
  c.pass,
  c.step,
  'host',
  1,
  'collectives',
  c.start_ns,
  c.end_ns,
  coalesce(c.operation, ''),
  'communication',
  c.bytes || ' bytes, call ' || c.call_number || ' of ' || n.text
FROM collective c
JOIN string n ON n.string_id = c.communicator_id
WHERE c.on_device = 0
UNION ALL
SELECT
  a.run_id,
  a.rank,
  a.pass,
  a.step,
  'GPU',
  2,
  'phases',
  a.start_ns,
  a.end_ns,
  coalesce(a.phase, ''),
  'phase',
  printf('idle %.1f %%, %d gaps', 100.0 * a.idle_ns / nullif(a.end_ns - a.start_ns, 0), a.gaps)
FROM step_activity a
WHERE a.phase NOT IN ('step', 'other')
UNION ALL
SELECT
  k.run_id,
  k.rank,
  k.pass,
  k.step,
  'GPU',
  3,
  'stream ' || k.stream,
  k.start_ns,
  k.end_ns,
  coalesce(c.short_name, n.text),
  coalesce(c.class, 'other'),
  n.text || coalesce(', in ' || q.text, '') || coalesce(' (' || p.text || ')', '')
  || CASE
    WHEN l.launch_config IS NULL THEN ''
    ELSE
      printf(
        ', grid %d×%d×%d, block %d×%d×%d, %d registers',
        l.grid_x,
        l.grid_y,
        l.grid_z,
        l.block_x,
        l.block_y,
        l.block_z,
        l.registers
      )
  END
FROM kernel k
JOIN string n ON n.string_id = k.name_id
LEFT JOIN kernel_class c ON c.name_id = k.name_id
LEFT JOIN string q ON q.string_id = k.scope_id
LEFT JOIN string p ON p.string_id = k.phase_id
LEFT JOIN launch_config l
  ON l.run_id = k.run_id AND l.rank = k.rank AND l.pass = k.pass AND l.launch_config = k.launch_config
UNION ALL
SELECT
  m.run_id,
  m.rank,
  m.pass,
  m.step,
  'GPU',
  4,
  'copies',
  m.start_ns,
  m.end_ns,
  coalesce(n.text, ''),
  'copy',
  m.bytes || ' bytes on stream ' || m.stream
FROM memcpy m
JOIN string n ON n.string_id = m.name_id
UNION ALL
SELECT
  m.run_id,
  m.rank,
  m.pass,
  m.step,
  'GPU',
  4,
  'copies',
  m.start_ns,
  m.end_ns,
  coalesce(n.text, ''),
  'memset',
  m.bytes || ' bytes on stream ' || m.stream
FROM memset m
JOIN string n ON n.string_id = m.name_id;

-- The step shown in the timeline of each rank and pass whose events were retained: the last one.
CREATE VIEW timeline_step AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- trace or ops
  t.pass,
  -- last step that has phases or scopes
  t.step,
  -- start of that step, host clock, relative to the start of the run; 0 if unknown
  coalesce(
    (
      SELECT s.start_ns
      FROM sample s
      WHERE s.run_id = t.run_id AND s.rank = t.rank AND s.pass = t.pass AND s.step = t.step AND s.phase = 'step'
    ),
    0
  ) AS step_start_ns,
  -- time of that step: on the device clock if available, otherwise on the host clock; NULL if unknown
  (
    SELECT coalesce(s.device_ns, s.host_ns) / 1e6
    FROM sample s
    WHERE s.run_id = t.run_id AND s.rank = t.rank AND s.pass = t.pass AND s.step = t.step AND s.phase = 'step'
  ) AS step_ms,
  -- 1 for the more detailed pass: ops on a CPU, otherwise trace
  t.preferred
FROM (
  SELECT
    w.run_id,
    w.rank,
    w.pass,
    CASE r.device_kind WHEN 'cpu' THEN w.pass = 'ops' ELSE w.pass = 'trace' END AS preferred,
    (SELECT max(g.step) FROM "range" g WHERE g.run_id = w.run_id AND g.rank = w.rank AND g.pass = w.pass) AS step
  FROM run r
  JOIN rank w ON w.run_id = r.run_id AND w.pass IN ('trace', 'ops')
) t
WHERE t.step >= 0;
