-- SPDX-License-Identifier: Apache-2.0
-- What a timeline shows of a step.
-- Every column of timeline_bar is of one affinity in all its parts, so that SQLite can flatten it into a join and read
-- the rows of one run alone; for that the ORDER BY of such a query names result columns only.

-- Every event of every observed step as a bar in a lane: phases, scopes, operators and calls between ranks on the host,
-- kernels and copies on the GPU. Ask for one run, rank, pass and step: the tables behind it are long.
CREATE VIEW timeline_bar AS
SELECT
  -- the run
  g.run_id,
  -- rank it happened on
  g.rank,
  -- pass it happened in
  g.pass,
  -- step; −1 outside of steps
  g.step,
  -- host or GPU
  'host' AS side,
  -- order of the lanes
  0 AS place,
  -- thread, stream, `phases`, `copies` or `collectives`
  'thread ' || g.thread AS lane,
  -- begin, host clock, after the start of the run
  g.start_ns,
  -- end; NULL if it never came
  g.end_ns,
  -- its name
  coalesce(n.text, '') AS label,
  -- phase, scope, operator, copy, memset, communication, or the class of the kernel
  coalesce(g.kind, '') AS class,
  -- more about it, or empty
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
  c.bytes || ' bytes, call ' || c.number || ' of ' || n.text
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
    WHEN l.shape IS NULL THEN ''
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
LEFT JOIN launch_shape l ON l.run_id = k.run_id AND l.rank = k.rank AND l.pass = k.pass AND l.shape = k.shape
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

-- The step that a timeline shows of each rank and pass whose events were kept: the last one.
CREATE VIEW timeline_step AS
SELECT
  -- the run
  t.run_id,
  -- its rank
  t.rank,
  -- trace or ops
  t.pass,
  -- last step that has phases or scopes
  t.step,
  -- its begin, host clock, after the start of the run; 0 if unknown
  coalesce(
    (
      SELECT s.start_ns
      FROM sample s
      WHERE s.run_id = t.run_id AND s.rank = t.rank AND s.pass = t.pass AND s.step = t.step AND s.phase = 'step'
    ),
    0
  ) AS origin_ns,
  -- 1 for the pass that shows more of the device at hand: ops on a CPU, else trace
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
