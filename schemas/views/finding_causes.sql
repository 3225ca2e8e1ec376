-- SPDX-License-Identifier: Apache-2.0
-- What takes so much of a step that findings name it, besides what other views have.

-- Many short operators, or on a GPU kernels, in one module or in the optimizer: at least 500 calls per step of those
-- that take less than 20 µs on average; for rank 0. Kernels also take the time in which nothing runs on the GPU while
-- the host is in their module, except after copies to the host. In a query with max(), SQLite takes the other columns
-- from the row with the maximum.
CREATE VIEW _short_operators AS
WITH call AS (
  SELECT
    o.run_id,
    o.phase = 'optimizer' AS is_optimizer,
    CASE WHEN o.phase <> 'optimizer' THEN coalesce(o.module, '') END AS module,
    o.name,
    'operators' AS what,
    o.calls,
    o.self_ms AS ms
  FROM run r
  JOIN op_by_scope o ON o.run_id = r.run_id AND o.rank = 0 AND o.pass = 'ops'
  WHERE r.device_kind = 'cpu' AND o.phase NOT IN ('data_loading', 'data')
  UNION ALL
  SELECT
    e.run_id,
    e.phase = 'optimizer',
    CASE WHEN e.phase <> 'optimizer' THEN coalesce(e.module, '') END,
    e.short_name,
    'kernels',
    1.0 * e.calls / e.steps,
    e.total_ns / 1e6 / e.steps
  FROM kernel_entry e
  WHERE e.rank = 0
),
by_name AS (
  SELECT
    run_id,
    is_optimizer,
    module,
    name,
    what,
    sum(calls) AS calls,
    sum(ms) AS ms
  FROM call
  GROUP BY run_id, is_optimizer, module, name
  HAVING sum(ms) < 0.02 * sum(calls)
),
total AS (
  SELECT
    run_id,
    is_optimizer,
    module,
    what,
    name,
    max(calls) AS calls_of_name,
    sum(calls) AS calls,
    sum(ms) AS ms
  FROM by_name
  GROUP BY run_id, is_optimizer, module
),
idle AS (
  SELECT
    i.run_id,
    i.phase = 'optimizer' AS is_optimizer,
    CASE WHEN i.phase <> 'optimizer' THEN coalesce(i.module, '') END AS module,
    sum(i.idle_ms - i.after_copy_ms) AS ms,
    max(i.step_ms) AS step_ms
  FROM idle_time i
  WHERE i.rank = 0 AND i.phase NOT IN ('data_loading', 'data')
  GROUP BY i.run_id, is_optimizer, module
)
SELECT
  -- run
  t.run_id,
  -- 1: in the optimizer
  t.is_optimizer,
  -- module that calls them; empty outside of modules, NULL in the optimizer
  t.module,
  -- operators or kernels
  t.what,
  -- the one that is called most often
  t.name,
  -- its calls per step
  t.calls_of_name,
  -- calls per step
  t.calls,
  -- time per step
  t.ms + coalesce(i.ms, 0) AS ms,
  -- part of it in which nothing runs on the GPU; NULL if unknown
  i.ms AS idle_ms,
  -- time of a step
  CASE t.what
    WHEN 'kernels'
      THEN
        coalesce(
          i.step_ms,
          (SELECT g.span_ms FROM launch_gap g WHERE g.run_id = t.run_id AND g.rank = 0 AND g.phase = 'step')
        )
    ELSE
      (
        SELECT avg(s.host_ns) / 1e6
        FROM _measured_step s
        WHERE s.run_id = t.run_id AND s.rank = 0 AND s.pass = 'ops'
      )
  END AS step_ms
FROM total t
LEFT JOIN idle i
  ON i.run_id = t.run_id AND i.is_optimizer = t.is_optimizer AND i.module IS t.module AND t.what = 'kernels'
WHERE t.calls >= 500;

-- Time per step in which nothing runs on the GPU, except during data loading, after copies to the host and in the
-- places of _short_operators, which are findings of their own; for rank 0.
CREATE VIEW _other_idle_time AS
WITH place AS (
  SELECT
    i.run_id,
    CASE
      WHEN i.activity = 'compilation' THEN 'a compiler'
      WHEN i.module <> '' THEN i.module
      ELSE 'phase ' || i.phase
    END AS name,
    sum(i.idle_ms - i.after_copy_ms) AS ms,
    sum(i.gaps) AS gaps,
    max(i.step_ms) AS step_ms
  FROM idle_time i
  WHERE
    i.rank = 0
    AND i.phase NOT IN ('data_loading', 'data')
    AND NOT EXISTS (
      SELECT 1
      FROM _short_operators m
      WHERE
        m.run_id = i.run_id
        AND m.is_optimizer = (i.phase = 'optimizer')
        AND (m.is_optimizer OR m.module = coalesce(i.module, ''))
    )
  GROUP BY i.run_id, name
)
SELECT
  -- run
  run_id,
  -- idle time
  sum(ms) AS ms,
  -- number of gaps
  sum(gaps) AS gaps,
  -- time of a step
  max(step_ms) AS step_ms,
  -- the three places in which the host was longest, with their times
  max(CASE position WHEN 1 THEN text END)
  || coalesce(', ' || max(CASE position WHEN 2 THEN text END), '')
  || coalesce(', ' || max(CASE position WHEN 3 THEN text END), '') AS places
FROM (
  SELECT
    *,
    printf('%s %.3g ms', name, ms) AS text,
    row_number() OVER (PARTITION BY run_id ORDER BY ms DESC, name) AS position
  FROM place
)
GROUP BY run_id;

-- Phases outside of forward and backward passes that take most of a step, and the operator that takes most of each; for
-- rank 0. Phases are compared by the time of their kernels on a GPU, for which the host does not wait, and on the host
-- otherwise; those of workloads that consist of an optimizer are no finding.
CREATE VIEW _dominant_phase AS
WITH phase_total AS (
  SELECT
    s.run_id,
    s.phase,
    sum(s.host_ms) AS ms,
    max(CASE s.phase WHEN 'step' THEN sum(s.host_ms) END) OVER (PARTITION BY s.run_id) AS step_ms,
    max(CASE s.phase WHEN 'step' THEN count(*) END) OVER (PARTITION BY s.run_id) AS steps,
    max(s.phase IN ('forward', 'backward')) OVER (PARTITION BY s.run_id) AS has_passes
  FROM pass_step_time s
  JOIN run r ON r.run_id = s.run_id AND r.device_kind = 'cpu'
  WHERE s.rank = 0 AND s.warmup = 0 AND s.is_least_observed = 1
  GROUP BY s.run_id, s.phase
  UNION ALL
  SELECT
    e.run_id,
    e.phase,
    sum(e.total_ns) / 1e6,
    sum(sum(e.total_ns)) OVER (PARTITION BY e.run_id) / 1e6,
    max(e.steps),
    max(e.phase IN ('forward', 'backward')) OVER (PARTITION BY e.run_id)
  FROM kernel_entry e
  JOIN run r ON r.run_id = e.run_id AND r.device_kind = 'cuda'
  WHERE e.rank = 0
  GROUP BY e.run_id, e.phase
),
dominant AS (
  SELECT
    p.*,
    r.device_kind
  FROM phase_total p
  JOIN run r ON r.run_id = p.run_id
  JOIN finding_rule t ON t.rule = 'outside of phases'
  WHERE
    p.ms > t.least * p.step_ms AND p.has_passes AND (p.phase = 'optimizer' OR p.phase = 'other' AND r.timing = 'free')
),
entry AS (
  SELECT
    e.run_id,
    e.phase,
    e.name,
    sum(e.ms) AS ms,
    row_number() OVER (PARTITION BY e.run_id, e.phase ORDER BY sum(e.ms) DESC, e.name) AS position
  FROM dominant d
  CROSS JOIN profile_entry e ON e.run_id = d.run_id AND e.rank = 0 AND e.phase = d.phase
  GROUP BY e.run_id, e.phase, e.name
)
SELECT
  -- run
  d.run_id,
  -- optimizer or other
  d.phase,
  -- time per step
  d.ms / d.steps AS ms,
  -- time of a step
  d.step_ms / d.steps AS step_ms,
  -- the operator, or on a GPU kernel; NULL if it was not recorded
  e.name,
  -- its share of the phase
  e.ms
  / CASE d.device_kind
    WHEN 'cuda' THEN d.ms / d.steps
    ELSE
      (
        SELECT sum(CASE x.phase WHEN d.phase THEN x.host_ns END) / 1e6 / sum(x.phase = 'step')
        FROM sample x
        WHERE x.run_id = d.run_id AND x.rank = 0 AND x.pass = 'ops' AND x.warmup = 0
      )
  END AS name_share
FROM dominant d
LEFT JOIN entry e ON e.run_id = d.run_id AND e.phase = d.phase AND e.position = 1;

-- The line of Python code that copies most values to the host, of each pass that recorded some, except in data loading
-- and, on the host, in the optimizer; for rank 0. In a query with max(), SQLite takes the other columns from the row
-- with the maximum.
CREATE VIEW _copying_line AS
SELECT
  -- run
  g.run_id,
  -- pass
  g.pass,
  -- file name and line; NULL if it is unknown
  g.location,
  -- copies per step
  max(g.calls) AS calls
FROM (
  SELECT
    l.run_id,
    l.pass,
    l.location,
    sum(CASE r.device_kind WHEN 'cuda' THEN l.host_copies ELSE l.host_reads END) AS calls
  FROM line_time l
  JOIN run r ON r.run_id = l.run_id
  WHERE
    l.rank = 0
    AND l.phase NOT IN ('data_loading', 'data')
    AND (r.device_kind = 'cuda' OR l.phase <> 'optimizer')
    AND l.host_copies + l.host_reads > 0
  GROUP BY l.run_id, l.pass, l.file, l.line
) g
GROUP BY g.run_id, g.pass;
