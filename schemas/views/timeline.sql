-- SPDX-License-Identifier: Apache-2.0
-- Timeline of a step. Each column of timeline_bar has the same affinity in all parts of the UNION, so that SQLite can
-- flatten the view into a join and read only the rows of one run. For the same reason, the ORDER BY of a query on it
-- must name result columns only.

-- Every recorded event as a bar in a lane: phases, scopes, operators, CUDA API calls and collectives on the host,
-- kernels and copies on the GPU. Filter by run, rank, pass and step: the underlying tables are large.
CREATE VIEW timeline_bar AS
SELECT
  -- run
  g.run_id,
  -- rank on which it was recorded
  g.rank,
  -- pass in which it occurred
  g.pass,
  -- step; −1 outside of steps. For an API call: the last step that started before it
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
  -- phase, scope, operator, API call, copy, memset, communication, or the kernel class
  coalesce(g.kind, '') AS class,
  -- details, or empty
  '' AS detail,
  -- scope path, or empty
  coalesce(q.text, '') AS scope,
  -- phase, or empty
  coalesce(p.text, '') AS phase,
  -- name of an operator call or API call within the rank and pass, for launched_by and called_by; otherwise NULL
  NULL AS event,
  -- API call that launched the kernel or copy; NULL for events on the host. It may not have been recorded
  NULL AS launched_by,
  -- innermost operator call that launched the kernel or copy; NULL if there was none
  NULL AS called_by
FROM "range" g
JOIN string n ON n.string_id = g.name_id
LEFT JOIN string q ON q.string_id = g.scope_id
LEFT JOIN string p ON p.string_id = g.phase_id
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
  coalesce(h.text, ''),
  coalesce(q.text, ''),
  coalesce(p.text, ''),
  'op ' || o.sequence,
  NULL,
  NULL
FROM op o
JOIN string n ON n.string_id = o.name_id
LEFT JOIN string h ON h.string_id = o.shapes_id
LEFT JOIN string q ON q.string_id = o.scope_id
LEFT JOIN string p ON p.string_id = o.phase_id
UNION ALL
SELECT
  a.run_id,
  a.rank,
  a.pass,
  CAST(
    coalesce(
      (
        SELECT max(s.step)
        FROM sample s
        WHERE
          s.run_id = a.run_id AND s.rank = a.rank AND s.pass = a.pass AND s.phase = 'step' AND s.start_ns <= a.start_ns
      ),
      -1
    )
    AS INTEGER
  ),
  'host',
  1,
  'API calls of thread ' || a.thread,
  a.start_ns,
  a.end_ns,
  coalesce(n.text, ''),
  'API call',
  '',
  '',
  '',
  'call ' || a.correlation_id,
  NULL,
  NULL
FROM api_call a
JOIN string n ON n.string_id = a.name_id
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
  c.bytes || ' bytes, call ' || c.call_number || ' of ' || n.text,
  coalesce(q.text, ''),
  coalesce(p.text, ''),
  NULL,
  NULL,
  NULL
FROM collective c
JOIN string n ON n.string_id = c.communicator_id
LEFT JOIN string q ON q.string_id = c.scope_id
LEFT JOIN string p ON p.string_id = c.phase_id
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
  printf('idle %.1f %%, %d gaps', 100.0 * a.idle_ns / nullif(a.end_ns - a.start_ns, 0), a.gaps),
  '',
  '',
  NULL,
  NULL,
  NULL
FROM step_activity a
WHERE
  a.phase NOT IN ('step', 'other')
  AND NOT EXISTS (
    SELECT 1
    FROM step_activity o
    WHERE
      o.run_id = a.run_id
      AND o.rank = a.rank
      AND o.pass = a.pass
      AND o.step = a.step
      AND o.phase NOT IN ('step', 'other', a.phase)
      AND o.start_ns < a.end_ns
      AND o.end_ns > a.start_ns
  )
UNION ALL
SELECT
  k.run_id,
  k.rank,
  k.pass,
  k.step,
  'GPU',
  CASE WHEN k.launch_config IS NULL THEN 4 ELSE 3 END,
  CASE WHEN k.launch_config IS NULL THEN 'copies' ELSE 'stream ' || k.stream END,
  k.start_ns,
  k.end_ns,
  coalesce(c.short_name, n.text),
  CASE
    WHEN k.launch_config IS NOT NULL THEN coalesce(c.class, 'other')
    WHEN n.text = 'memset' THEN 'memset'
    ELSE 'copy'
  END,
  CASE
    WHEN k.launch_config IS NULL THEN k.bytes || ' bytes on stream ' || k.stream
    ELSE
      trim(
        CASE WHEN n.text = c.short_name THEN '' ELSE n.text || '; ' END
        || CASE
          WHEN l.launch_config IS NULL THEN ''
          ELSE
            printf(
              'grid %d×%d×%d, block %d×%d×%d, %d registers',
              l.grid_x,
              l.grid_y,
              l.grid_z,
              l.block_x,
              l.block_y,
              l.block_z,
              l.registers
            )
        END,
        '; '
      )
  END,
  coalesce(q.text, ''),
  coalesce(p.text, ''),
  NULL,
  'call ' || k.correlation_id,
  'op ' || k.op
FROM gpu_activity k
JOIN string n ON n.string_id = k.name_id
LEFT JOIN kernel_class c ON c.name_id = k.name_id AND k.launch_config IS NOT NULL
LEFT JOIN string q ON q.string_id = k.scope_id
LEFT JOIN string p ON p.string_id = k.phase_id
LEFT JOIN launch_config l
  ON l.run_id = k.run_id AND l.rank = k.rank AND l.pass = k.pass AND l.launch_config = k.launch_config;

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

-- Quantities over time for the lanes below a timeline: clocks, power and temperature after each step, memory in use,
-- and the utilization in intervals, at their begin. Filter by run, rank and pass.
CREATE VIEW timeline_counter AS
SELECT
  -- run
  g.run_id,
  -- rank that uses the device
  g.rank,
  -- pass in which it was read
  g.pass,
  -- sort order of the quantities
  0 AS counter_order,
  -- quantity
  'SM clock' AS name,
  -- unit; B for bytes
  'MHz' AS unit,
  -- host clock, relative to the start of the run
  g.time_ns,
  -- value at that time; NULL if the device does not report it
  g.sm_clock_mhz AS value
FROM gpu_sample g
UNION ALL
SELECT
  g.run_id,
  g.rank,
  g.pass,
  1,
  'memory clock',
  'MHz',
  g.time_ns,
  g.memory_clock_mhz
FROM gpu_sample g
UNION ALL
SELECT
  g.run_id,
  g.rank,
  g.pass,
  2,
  'power',
  'W',
  g.time_ns,
  g.power_mw / 1e3
FROM gpu_sample g
UNION ALL
SELECT
  g.run_id,
  g.rank,
  g.pass,
  3,
  'temperature',
  '°C',
  g.time_ns,
  g.temperature_c
FROM gpu_sample g
UNION ALL
SELECT
  d.run_id,
  d.rank,
  d.pass,
  4,
  'device memory in use',
  'B',
  d.time_ns,
  d.used_bytes
FROM device_memory d
UNION ALL
SELECT
  m.run_id,
  m.rank,
  m.pass,
  5,
  'reserved by the allocator',
  'B',
  m.time_ns,
  m.reserved_bytes
FROM memory_point m
WHERE m.device = 'cuda'
UNION ALL
SELECT
  m.run_id,
  m.rank,
  m.pass,
  6,
  'reserved and not allocated',
  'B',
  m.time_ns,
  m.reserved_bytes - m.allocated_bytes
FROM memory_point m
WHERE m.device = 'cuda'
UNION ALL
SELECT
  u.run_id,
  u.rank,
  u.pass,
  c.counter_order,
  c.name,
  c.unit,
  u.start_ns,
  CASE c.counter_order
    WHEN 7 THEN 100 * u.sm_utilization
    WHEN 8 THEN 100 * u.tensor_utilization
    WHEN 9 THEN 100 * u.dram_utilization
    WHEN 10 THEN CASE WHEN u.sm_utilization IS NULL THEN 100 * u.kernel_time END
    WHEN 11 THEN (u.pcie_sent_bytes_per_s + u.pcie_received_bytes_per_s) / 1e9
    ELSE (u.nvlink_sent_bytes_per_s + u.nvlink_received_bytes_per_s) / 1e9
  END
FROM gpu_utilization u
CROSS JOIN (
  SELECT
    7 AS counter_order,
    'SM utilization' AS name,
    '%' AS unit
  UNION ALL
  VALUES
  (8, 'tensor utilization', '%'), (9, 'DRAM utilization', '%'), (10, 'time with kernels', '%'),
  (11, 'PCIe traffic', 'GB/s'), (12, 'NVLink traffic', 'GB/s')
) c;
