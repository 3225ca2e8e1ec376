-- SPDX-License-Identifier: Apache-2.0
-- Recorded events with their names instead of ids. Filter by run, rank and pass: the underlying tables are large.

-- The rows of gpu_activity that are kernels.
CREATE VIEW kernel AS
-- every column of gpu_activity
SELECT a.*
FROM gpu_activity a
WHERE a.launch_config IS NOT NULL;

-- The rows of gpu_activity that are copies.
CREATE VIEW memcpy AS
-- every column of gpu_activity
SELECT a.*
FROM gpu_activity a
WHERE a.launch_config IS NULL AND a.name_id IS NOT (SELECT n.string_id FROM string n WHERE n.text = 'memset');

-- The rows of gpu_activity that are memsets.
CREATE VIEW memset AS
-- every column of gpu_activity
SELECT a.*
FROM gpu_activity a
WHERE a.launch_config IS NULL AND a.name_id = (SELECT n.string_id FROM string n WHERE n.text = 'memset');

-- Every kernel, copy and memset on a GPU.
CREATE VIEW kernel_call AS
SELECT
  -- run
  k.run_id,
  -- rank that launched it
  k.rank,
  -- pass in which it ran
  k.pass,
  -- kernel, memcpy or memset
  CASE WHEN k.launch_config IS NOT NULL THEN 'kernel' WHEN n.text = 'memset' THEN 'memset' ELSE 'memcpy' END AS kind,
  -- order by start time
  k.sequence,
  -- step; −1 outside of steps
  k.step,
  -- phase that launched it; `other` outside of phases
  coalesce(p.text, 'other') AS phase,
  -- scope path; NULL if unknown
  s.text AS scope,
  -- kernel class
  coalesce(
    c.class, CASE WHEN k.launch_config IS NOT NULL THEN 'other' WHEN n.text = 'memset' THEN 'memset' ELSE 'copy' END
  ) AS class,
  -- name without template arguments, parameters and namespaces
  coalesce(c.short_name, n.text) AS short_name,
  -- full name
  n.text AS name,
  -- start relative to the start of the run, host clock
  k.start_ns / 1e6 AS start_ms,
  -- duration
  (k.end_ns - k.start_ns) / 1e3 AS duration_us,
  -- size; NULL for a kernel
  k.bytes,
  -- CUDA stream id
  k.stream,
  -- id that it shares with the CUDA API call that launched it
  k.correlation_id,
  -- number of the Python stack that launched it, or of the forward operator whose backward pass it is, as in
  -- python_stack; NULL if none was recorded
  k.stack
FROM gpu_activity k
JOIN string n ON n.string_id = k.name_id
LEFT JOIN kernel_class c ON c.name_id = k.name_id
LEFT JOIN string p ON p.string_id = k.phase_id
LEFT JOIN string s ON s.string_id = k.scope_id;

-- Every call of a LibTorch operator.
CREATE VIEW op_call AS
SELECT
  -- run
  o.run_id,
  -- rank that made the call
  o.rank,
  -- pass in which it was made
  o.pass,
  -- order by start time
  o.sequence,
  -- sequence of the calling operator; NULL at the top level
  o.parent,
  -- step; −1 outside of steps
  o.step,
  -- phase; `other` outside of phases
  coalesce(p.text, 'other') AS phase,
  -- scope path; NULL if unknown
  s.text AS scope,
  -- operator name such as aten::mm, or the name of a backward node
  n.text AS name,
  -- arguments such as f32[4, 256] f32[256] 1: tensors by type and size (an expanded dimension as 4*), lists of tensors
  -- in braces, integers, true, false and None; _ stands for other values. NULL if not requested
  h.text AS shapes,
  -- 1 for a node of the backward pass
  o.backward,
  -- start relative to the start of the run
  o.start_ns / 1e6 AS start_ms,
  -- host time including called operators; NULL if it did not end
  (o.end_ns - o.start_ns) / 1e3 AS duration_us,
  -- host time excluding called operators
  o.self_ns / 1e3 AS self_us,
  -- thread, numbered as in range_instance
  o.thread,
  -- number of the Python stack that calls it, or of the forward operator whose backward pass it is, as in python_stack;
  -- NULL if none was recorded
  o.stack
FROM op o
JOIN string n ON n.string_id = o.name_id
LEFT JOIN string h ON h.string_id = o.shapes_id
LEFT JOIN string p ON p.string_id = o.phase_id
LEFT JOIN string s ON s.string_id = o.scope_id;

-- Every instance of a phase or scope.
CREATE VIEW range_instance AS
SELECT
  -- run
  g.run_id,
  -- rank on which it was recorded
  g.rank,
  -- pass in which it occurred
  g.pass,
  -- order by start time
  g.sequence,
  -- sequence of the enclosing range on the same thread; NULL if there is none
  g.parent,
  -- phase or scope
  g.kind,
  -- step; −1 outside of steps
  g.step,
  -- phase; `other` outside of phases
  coalesce(p.text, 'other') AS phase,
  -- scope path; NULL for a phase
  s.text AS scope,
  -- name of the phase or of the innermost scope
  n.text AS name,
  -- start relative to the start of the run
  g.start_ns / 1e6 AS start_ms,
  -- duration; NULL if it did not end
  (g.end_ns - g.start_ns) / 1e3 AS duration_us,
  -- thread, numbered from 0 in order of first appearance
  g.thread
FROM "range" g
JOIN string n ON n.string_id = g.name_id
LEFT JOIN string p ON p.string_id = g.phase_id
LEFT JOIN string s ON s.string_id = g.scope_id;

-- Every CUDA API call, recorded with --trace-detail api.
CREATE VIEW cuda_api_call AS
SELECT
  -- run
  a.run_id,
  -- rank that made the call
  a.rank,
  -- pass in which it was made
  a.pass,
  -- order by start time
  a.sequence,
  -- function name
  n.text AS name,
  -- start relative to the start of the run
  a.start_ns / 1e6 AS start_ms,
  -- duration
  (a.end_ns - a.start_ns) / 1e3 AS duration_us,
  -- operating system thread id
  a.thread,
  -- id that it shares with the kernels and copies that it launched
  a.correlation_id
FROM api_call a
JOIN string n ON n.string_id = a.name_id;
