-- SPDX-License-Identifier: Apache-2.0
-- Host activity in the measured steps: LibTorch operators, and the scopes of CPU runs. Each column of profile_entry has
-- the same affinity in both parts of the UNION, so that SQLite can flatten the view into a join.

-- Each operator by name, within each phase and the whole step, per step. Kernels count for the operator that launched
-- them directly.
CREATE VIEW op_summary AS
SELECT
  -- run
  g.run_id,
  -- rank that called it
  g.rank,
  -- pass in which it was recorded
  g.pass,
  -- phase of the call; `step` is the whole step, `other` outside of phases
  g.phase,
  -- operator name such as aten::mm
  n.text AS name,
  -- 1 for a node of the backward pass
  g.backward,
  -- calls per step
  1.0 * g.calls / g.steps AS calls,
  -- host time including called operators
  g.host_ns / 1e6 / g.steps AS host_ms,
  -- host time excluding called operators
  g.self_host_ns / 1e6 / g.steps AS self_ms,
  -- share of the self time of all operators in the phase
  1.0 * g.self_host_ns
  / nullif(sum(g.self_host_ns) OVER (PARTITION BY g.run_id, g.rank, g.pass, g.phase), 0) AS self_share,
  -- kernels, copies and memsets launched directly by the operator
  1.0 * g.kernels / g.steps AS kernels,
  -- sum of durations
  g.device_ns / 1e6 / g.steps AS device_ms
FROM (
  SELECT
    t.run_id,
    t.rank,
    t.pass,
    coalesce(p.text, 'other') AS phase,
    t.name_id,
    t.backward,
    max(t.steps) AS steps,
    sum(t.calls) AS calls,
    sum(t.host_ns) AS host_ns,
    sum(t.self_host_ns) AS self_host_ns,
    sum(t.kernels) AS kernels,
    sum(t.device_ns) AS device_ns
  FROM op_total t
  LEFT JOIN string p ON p.string_id = t.phase_id
  GROUP BY t.run_id, t.rank, t.pass, t.phase_id, t.name_id, t.backward
  UNION ALL
  SELECT
    run_id,
    rank,
    pass,
    'step',
    name_id,
    backward,
    max(steps),
    sum(calls),
    sum(host_ns),
    sum(self_host_ns),
    sum(kernels),
    sum(device_ns)
  FROM op_total
  GROUP BY run_id, rank, pass, name_id, backward
) g
JOIN string n ON n.string_id = g.name_id;

-- Each operator by module, within each phase, per step: the largest rows show which layers to optimize. Sums over the
-- modules are the rows of op_summary.
CREATE VIEW op_by_scope AS
SELECT
  -- run
  t.run_id,
  -- rank that called it
  t.rank,
  -- pass in which it was recorded
  t.pass,
  -- phase of the call; `other` outside of phases
  coalesce(p.text, 'other') AS phase,
  -- scope path without the indices of repeated modules; NULL outside of scopes
  q.module,
  -- operator name such as aten::mm
  n.text AS name,
  -- 1 for a node of the backward pass
  t.backward,
  -- calls per step
  1.0 * sum(t.calls) / max(t.steps) AS calls,
  -- host time including called operators
  sum(t.host_ns) / 1e6 / max(t.steps) AS host_ms,
  -- host time excluding called operators
  sum(t.self_host_ns) / 1e6 / max(t.steps) AS self_ms,
  -- share of the self time of all operators in the step
  1.0 * sum(t.self_host_ns)
  / nullif(sum(sum(t.self_host_ns)) OVER (PARTITION BY t.run_id, t.rank, t.pass), 0) AS share_of_step,
  -- kernels, copies and memsets launched directly by the operator
  1.0 * sum(t.kernels) / max(t.steps) AS kernels,
  -- sum of the durations of these
  sum(t.device_ns) / 1e6 / max(t.steps) AS device_ms
FROM op_total t
JOIN string n ON n.string_id = t.name_id
LEFT JOIN string p ON p.string_id = t.phase_id
LEFT JOIN scope_path q ON q.scope_id = t.scope_id
GROUP BY t.run_id, t.rank, t.pass, t.phase_id, q.module, t.name_id, t.backward;

-- Time of each module within each phase of CPU runs, on the host clock: means over the measured steps whose ranges were
-- retained, from the first available of the passes trace, ops and memory.
CREATE VIEW cpu_scope_time AS
WITH chosen AS (
  SELECT
    k.run_id,
    k.rank,
    k.pass,
    (
      SELECT min(s.step)
      FROM _measured_step s
      WHERE s.run_id = k.run_id AND s.rank = k.rank AND s.pass = k.pass
    ) AS first_step
  FROM run r
  JOIN rank k ON k.run_id = r.run_id
  WHERE
    r.device_kind = 'cpu'
    AND k.pass IN ('trace', 'ops', 'memory')
    AND EXISTS (SELECT 1 FROM "range" g WHERE g.run_id = k.run_id AND g.rank = k.rank AND g.pass = k.pass)
    AND NOT EXISTS (
      SELECT 1
      FROM "range" g
      WHERE g.run_id = k.run_id AND g.rank = k.rank AND g.pass = 'trace' AND k.pass <> 'trace'
    )
    AND NOT EXISTS (
      SELECT 1
      FROM "range" g
      WHERE g.run_id = k.run_id AND g.rank = k.rank AND g.pass = 'ops' AND k.pass = 'memory'
    )
),
observed AS (
  SELECT
    c.*,
    (
      SELECT count(DISTINCT g.step)
      FROM "range" g
      WHERE g.run_id = c.run_id AND g.rank = c.rank AND g.pass = c.pass AND g.step >= c.first_step
    ) AS steps
  FROM chosen c
),
instance AS (
  SELECT
    c.run_id,
    c.rank,
    c.pass,
    c.steps,
    g.sequence,
    g.parent,
    g.phase_id,
    g.scope_id,
    g.end_ns - g.start_ns AS duration_ns
  FROM observed c
  CROSS JOIN "range" g ON g.run_id = c.run_id AND g.rank = c.rank AND g.pass = c.pass
  WHERE g.kind = 'scope' AND g.step >= c.first_step
),
inner_scopes AS (
  SELECT
    run_id,
    rank,
    pass,
    parent,
    sum(duration_ns) AS duration_ns
  FROM instance
  WHERE parent IS NOT NULL
  GROUP BY run_id, rank, pass, parent
)
SELECT
  -- run
  i.run_id,
  -- rank
  i.rank,
  -- pass in which it was recorded
  i.pass,
  -- phase; `other` outside of phases
  coalesce(p.text, 'other') AS phase,
  -- scope path without the indices of repeated modules
  q.module,
  -- number of scopes in the path
  max(q.depth) AS depth,
  -- calls per step
  1.0 * count(*) / max(i.steps) AS calls,
  -- time per step including nested scopes
  sum(i.duration_ns) / 1e6 / max(i.steps) AS total_ms,
  -- host time excluding called operators
  (sum(i.duration_ns) - sum(coalesce(n.duration_ns, 0))) / 1e6 / max(i.steps) AS self_ms
FROM instance i
JOIN scope_path q ON q.scope_id = i.scope_id
LEFT JOIN string p ON p.string_id = i.phase_id
LEFT JOIN inner_scopes n ON n.run_id = i.run_id AND n.rank = i.rank AND n.pass = i.pass AND n.parent = i.sequence
GROUP BY i.run_id, i.rank, i.pass, i.phase_id, q.module;

-- What the time of a step consists of, per step: kernels, copies and memsets of a GPU run; of a CPU run, the self
-- time of operators. A name has several rows within a phase: add them.
CREATE VIEW profile_entry AS
SELECT
  -- run
  e.run_id,
  -- rank that launched or called it
  e.rank,
  -- kernel (also a copy or memset) or operator
  'kernel' AS source,
  -- phase; `other` outside of phases
  coalesce(e.phase, '') AS phase,
  -- scope path without the indices of repeated modules; NULL if unknown
  e.module,
  -- kernel class; for operators, a class by their name
  coalesce(e.class, '') AS class,
  -- short name of the kernel, or name of the operator
  coalesce(e.short_name, '') AS name,
  -- executions per step
  1.0 * e.calls / e.steps AS calls,
  -- time per step
  e.total_ns / 1e6 / e.steps AS ms
FROM kernel_entry e
UNION ALL
SELECT
  t.run_id,
  t.rank,
  'operator',
  coalesce((SELECT p.text FROM string p WHERE p.string_id = t.phase_id), 'other'),
  (SELECT q.module FROM scope_path q WHERE q.scope_id = t.scope_id),
  CASE
    WHEN n.text IN ('aten::mm', 'aten::bmm', 'aten::addmm', 'aten::baddbmm', 'aten::mv') THEN 'matmul'
    WHEN n.text LIKE '%softmax%' THEN 'softmax'
    WHEN n.text LIKE '%adam%' THEN 'optimizer'
    WHEN n.text LIKE '%copy%' OR n.text LIKE '%::to' OR n.text LIKE '%clone%' THEN 'copy'
    WHEN n.text LIKE '%norm%' THEN 'normalization'
    WHEN n.text IN ('aten::mean', 'aten::sum', 'aten::logsumexp', 'aten::amax') THEN 'reduction'
    ELSE 'elementwise and other'
  END,
  coalesce(n.text, ''),
  1.0 * t.calls / t.steps,
  t.self_host_ns / 1e6 / t.steps
FROM op_total t
JOIN run r ON r.run_id = t.run_id AND r.device_kind = 'cpu'
JOIN string n ON n.string_id = t.name_id;
