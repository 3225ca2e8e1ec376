-- SPDX-License-Identifier: Apache-2.0
-- caption: One step of the newest traced run: phases, scopes and operators on the host, kernels and copies on the GPU.
-- empty: No run was traced: add `--passes time,trace` to the command.
-- The newest run that was traced, or else whose operators were recorded: the last step that has events. Times are after the step's begin.
WITH chosen AS (
  SELECT k.run_id, k.rank, k.pass, (SELECT max(g.step) FROM range g WHERE g.run_id = k.run_id AND g.rank = k.rank AND g.pass = k.pass) AS step
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  JOIN rank k ON k.run_id = r.run_id AND k.rank = 0 AND k.pass IN ('trace', 'ops')
  WHERE EXISTS (SELECT 1 FROM range g WHERE g.run_id = k.run_id AND g.rank = k.rank AND g.pass = k.pass AND g.step >= 0)
  ORDER BY k.run_id DESC, k.pass = CASE r.device_kind WHEN 'cpu' THEN 'ops' ELSE 'trace' END DESC LIMIT 1
),
timed AS (
  SELECT c.*, coalesce((SELECT x.start_ns FROM sample x WHERE x.run_id = c.run_id AND x.rank = c.rank AND x.pass = c.pass AND x.step = c.step AND x.phase = 'step'), 0) AS origin_ns
  FROM chosen c
),
bar AS (
  SELECT 'host' AS "group", 0 AS place, 'thread ' || g.thread AS lane, g.start_ns, g.end_ns, n.text AS label, g.kind AS class, q.text AS detail
  FROM timed t
  CROSS JOIN range g ON g.run_id = t.run_id AND g.rank = t.rank AND g.pass = t.pass AND g.step = t.step
  JOIN string n ON n.string_id = g.name_id
  LEFT JOIN string q ON q.string_id = g.scope_id
  UNION ALL
  SELECT 'host', 0, 'thread ' || o.thread, o.start_ns, o.end_ns, n.text, 'operator', coalesce(h.text || ' ', '') || coalesce('in ' || q.text, '')
  FROM timed t
  CROSS JOIN op o ON o.run_id = t.run_id AND o.rank = t.rank AND o.pass = t.pass AND o.step = t.step
  JOIN string n ON n.string_id = o.name_id
  LEFT JOIN string h ON h.string_id = o.shapes_id
  LEFT JOIN string q ON q.string_id = o.scope_id
  UNION ALL
  SELECT 'GPU', 1, 'phases', a.start_ns, a.end_ns, a.phase, 'phase', printf('idle %.1f %%, %d gaps', 100.0 * a.idle_ns / nullif(a.end_ns - a.start_ns, 0), a.gaps)
  FROM timed t JOIN step_activity a ON a.run_id = t.run_id AND a.rank = t.rank AND a.pass = t.pass AND a.step = t.step AND a.phase NOT IN ('step', 'other')
  UNION ALL
  SELECT 'GPU', 2, 'stream ' || k.stream, k.start_ns, k.end_ns, coalesce(c.short_name, n.text), coalesce(c.class, 'other'),
         n.text || coalesce(', in ' || q.text, '') || coalesce(' (' || p.text || ')', '')
         || coalesce(printf(', grid %d×%d×%d, block %d×%d×%d, %d registers', l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z, l.registers), '')
  FROM timed t
  CROSS JOIN kernel k ON k.run_id = t.run_id AND k.rank = t.rank AND k.pass = t.pass AND k.step = t.step
  JOIN string n ON n.string_id = k.name_id
  LEFT JOIN kernel_class c ON c.name_id = k.name_id
  LEFT JOIN string q ON q.string_id = k.scope_id
  LEFT JOIN string p ON p.string_id = k.phase_id
  LEFT JOIN launch_shape l ON l.run_id = k.run_id AND l.rank = k.rank AND l.pass = k.pass AND l.shape = k.shape
  UNION ALL
  SELECT 'GPU', 3, 'copies', m.start_ns, m.end_ns, n.text, 'copy', m.bytes || ' bytes on stream ' || m.stream
  FROM timed t
  CROSS JOIN memcpy m ON m.run_id = t.run_id AND m.rank = t.rank AND m.pass = t.pass AND m.step = t.step
  JOIN string n ON n.string_id = m.name_id
  UNION ALL
  SELECT 'GPU', 3, 'copies', m.start_ns, m.end_ns, n.text, 'memset', m.bytes || ' bytes on stream ' || m.stream
  FROM timed t
  CROSS JOIN memset m ON m.run_id = t.run_id AND m.rank = t.rank AND m.pass = t.pass AND m.step = t.step
  JOIN string n ON n.string_id = m.name_id
)
SELECT b."group", b.lane, b.start_ns - t.origin_ns AS start_ns, b.end_ns - t.origin_ns AS end_ns, b.label, b.class, b.detail
FROM bar b CROSS JOIN timed t
ORDER BY b.place, b.lane, b.start_ns, b.end_ns DESC
