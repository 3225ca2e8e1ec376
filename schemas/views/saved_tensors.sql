-- SPDX-License-Identifier: Apache-2.0
-- What autograd keeps for the backward pass.

-- Memory that autograd keeps for the backward pass of the newest step of the memory pass, in total. Memory that tensors
-- share is counted once.
CREATE VIEW saved_memory AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass in which it was recorded
  t.pass,
  -- 0: the largest graph of the step; 1: the largest graph that is differentiated within it, that of a checkpoint
  t.nested,
  -- step
  t.step,
  -- number of tensors that nodes keep, also those that share memory
  count(*) AS tensors,
  -- memory that was allocated in the forward pass
  sum(CASE t.memory WHEN 'activation' THEN t.counted_bytes ELSE 0 END) AS activation_bytes,
  -- parameters, which exist anyway
  sum(CASE t.memory WHEN 'parameter' THEN t.counted_bytes ELSE 0 END) AS parameter_bytes,
  -- inputs of the step
  sum(CASE t.memory WHEN 'input' THEN t.counted_bytes ELSE 0 END) AS input_bytes,
  -- memory from before the step, such as buffers
  sum(CASE t.memory WHEN 'other' THEN t.counted_bytes ELSE 0 END) AS other_bytes,
  -- for comparison: memory allocated since the begin of the phase forward that exists at the begin of the phase
  -- backward; NULL without these phases, for a checkpoint, and without records of blocks (--keep summary). It includes
  -- what the program itself keeps, such as its outputs
  (
    SELECT sum(a.allocated_bytes)
    FROM (
      SELECT
        min(CASE n.text WHEN 'forward' THEN g.start_ns END) AS forward_ns,
        min(CASE n.text WHEN 'backward' THEN g.start_ns END) AS backward_ns
      FROM "range" g
      JOIN string n ON n.string_id = g.name_id
      WHERE g.run_id = t.run_id AND g.rank = t.rank AND g.pass = t.pass AND g.step = t.step AND g.kind = 'phase'
    ) p
    JOIN run r ON r.run_id = t.run_id
    JOIN allocation a
      ON a.run_id = t.run_id
      AND a.rank = t.rank
      AND a.pass = t.pass
      AND a.device = r.device_kind
      AND a.alloc_ns >= p.forward_ns
      AND a.alloc_ns < p.backward_ns
      AND coalesce(a.free_ns, p.backward_ns) >= p.backward_ns
    WHERE t.nested = 0
  ) AS growth_bytes
FROM saved_tensor t
GROUP BY t.run_id, t.rank, t.pass, t.nested, t.step;

-- The same by operator and scope. Sort by bytes for the largest.
CREATE VIEW saved_by_operator AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass in which it was recorded
  t.pass,
  -- as in saved_memory
  t.nested,
  -- node that keeps the tensors; of nodes that share memory, the first one
  n.text AS operator,
  -- scope that created the node; NULL if unknown
  s.text AS scope,
  -- the same without the indices of repeated modules
  coalesce(q.module, s.text) AS module,
  -- as in saved_tensor
  t.memory,
  -- tensors as `f32[4, 512] f32[512]`, largest first
  (
    SELECT group_concat(g.type, ' ')
    FROM (
      SELECT y.text AS type
      FROM saved_tensor x
      JOIN string y ON y.string_id = x.type_id
      WHERE
        x.run_id = t.run_id
        AND x.rank = t.rank
        AND x.pass = t.pass
        AND x.nested = t.nested
        AND x.node_id = t.node_id
        AND x.scope_id IS t.scope_id
        AND x.memory = t.memory
      ORDER BY x.counted_bytes DESC, x.sequence
    ) g
  ) AS types,
  -- number of tensors
  count(*) AS tensors,
  -- memory
  sum(t.counted_bytes) AS bytes,
  -- share of all activations; NULL for other memory
  CASE t.memory WHEN 'activation' THEN 1.0 * sum(t.counted_bytes) / nullif(m.activation_bytes, 0) END AS share
FROM saved_tensor t
JOIN string n ON n.string_id = t.node_id
LEFT JOIN string s ON s.string_id = t.scope_id
LEFT JOIN scope_path q ON q.scope_id = t.scope_id
JOIN saved_memory m ON m.run_id = t.run_id AND m.rank = t.rank AND m.pass = t.pass AND m.nested = t.nested
GROUP BY t.run_id, t.rank, t.pass, t.nested, t.node_id, t.scope_id, t.memory;

-- The same by module, each with everything within it, and the gradients of parameters that its backward pass produces.
-- Repeated modules, such as the blocks of a Transformer, share a row.
CREATE VIEW saved_by_module AS
WITH RECURSIVE
entry AS (
  SELECT
    run_id,
    rank,
    pass,
    nested,
    scope_id,
    count(*) AS tensors,
    sum(CASE memory WHEN 'activation' THEN counted_bytes ELSE 0 END) AS bytes,
    0 AS gradient_bytes
  FROM saved_tensor
  WHERE scope_id IS NOT NULL
  GROUP BY run_id, rank, pass, nested, scope_id
  UNION ALL
  SELECT
    a.run_id,
    a.rank,
    a.pass,
    0,
    a.scope_id,
    0,
    0,
    sum(a.allocated_bytes)
  FROM saved_memory m
  JOIN run r ON r.run_id = m.run_id
  JOIN allocation a
    ON a.run_id = m.run_id
    AND a.rank = m.rank
    AND a.pass = m.pass
    AND a.device = r.device_kind
    AND a.step = m.step
    AND a.category = 'gradient'
    AND a.scope_id IS NOT NULL
  WHERE m.nested = 0
  GROUP BY a.run_id, a.rank, a.pass, a.scope_id
),
around (scope_id, path, rest) AS (
  SELECT
    e.scope_id,
    '',
    s.text || '/'
  FROM (SELECT DISTINCT scope_id FROM entry) e
  JOIN string s ON s.string_id = e.scope_id
  UNION ALL
  SELECT
    scope_id,
    path || CASE path WHEN '' THEN '' ELSE '/' END || substr(rest, 1, instr(rest, '/') - 1),
    substr(rest, instr(rest, '/') + 1)
  FROM around
  WHERE rest <> ''
)
SELECT
  -- run
  e.run_id,
  -- rank
  e.rank,
  -- pass in which it was recorded
  e.pass,
  -- as in saved_memory
  e.nested,
  -- scope path without the indices of repeated modules
  coalesce(q.module, w.path) AS module,
  -- number of modules that share the row
  count(DISTINCT w.path) AS instances,
  -- number of tensors that nodes of all of them keep
  sum(e.tensors) AS tensors,
  -- activations that all of them keep
  sum(e.bytes) AS bytes,
  -- the same for one of them, on average
  1.0 * sum(e.bytes) / count(DISTINCT w.path) AS bytes_per_instance,
  -- share of all activations that are kept
  1.0 * sum(e.bytes) / nullif(m.activation_bytes, 0) AS share,
  -- allocated memory of the gradients of parameters that the backward pass of one of them produces, on average; without
  -- records of blocks (--keep summary), 0
  1.0 * sum(e.gradient_bytes) / count(DISTINCT w.path) AS gradient_bytes_per_instance
FROM entry e
JOIN around w ON w.scope_id = e.scope_id AND w.path <> ''
JOIN saved_memory m ON m.run_id = e.run_id AND m.rank = e.rank AND m.pass = e.pass AND m.nested = e.nested
LEFT JOIN string s ON s.text = w.path
LEFT JOIN scope_path q ON q.scope_id = s.string_id
GROUP BY e.run_id, e.rank, e.pass, e.nested, coalesce(q.module, w.path);
