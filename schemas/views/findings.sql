-- SPDX-License-Identifier: Apache-2.0
-- What limits the steps of a run, from all passes that recorded it. step_finding names finding_rule in a WITH clause:
-- SQLite then reads it once instead of for each measure.

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

-- The rules by which measures of a step become rows of step_finding, and their texts.
CREATE VIEW finding_rule AS
WITH rule (rule, least, subject, evidence, detail, next_step) AS (
  VALUES
  (
    'idle GPU',
    0.2,
    'idle GPU',
    'nothing runs on the GPU for %.3g ms of %.3g ms per step, in %.0f gaps',
    '; the host is then in %s',
    'launch fewer kernels: CUDA graphs, torch.compile, fused operators; the timeline shows the gaps'
  ),
  (
    'data loading',
    0.1,
    'data loading',
    '%.3g ms of %.3g ms per step',
    NULL,
    'load in more worker processes and further ahead: num_workers, prefetch_factor, pin_memory'
  ),
  (
    'copies to the host',
    1,
    'copies to the host',
    '%.3g per step, %.3g of them in %s',
    '; nothing runs on the GPU for %.3g ms after them',
    'the host waits for the GPU at each copy to unpinned memory: keep values on the GPU, '
    || 'without .item(), .cpu(), .tolist() or printing'
  ),
  (
    'values read by the host',
    1,
    'values read by the host',
    '%.3g per step, by .item(), float() or printing; most in %s',
    NULL,
    'on a GPU, the host would wait at each: keep values in tensors, and read them every N steps'
  ),
  (
    'host code',
    0.2,
    'host code outside of operators',
    'operators take %.3g ms of %.3g ms per step',
    '; data loading takes %.3g ms, communication alone %.3g ms',
    'the timeline shows what surrounds the time without operators'
  ),
  (
    'exposed communication',
    0.1,
    'exposed communication',
    'only communication runs for %.3g ms of %.3g ms per step',
    NULL,
    'start it earlier (buckets, overlap with backward), or exchange less (bf16 gradients)'
  ),
  (
    'short calls in the optimizer',
    0.1,
    'many short %s in the optimizer',
    '%.0f calls of %.3g µs take %.3g ms of %.3g ms per step; most often %s, %.0f times',
    '; nothing runs on the GPU for %.3g ms of it',
    'update all parameters with few kernels: fused=True or foreach=True'
  ),
  (
    'short calls in a module',
    0.1,
    'many short %s %s',
    '%.0f calls of %.3g µs take %.3g ms of %.3g ms per step; most often %s, %.0f times',
    '; nothing runs on the GPU for %.3g ms of it',
    'compute on whole tensors instead of in a loop, or fuse them with torch.compile'
  ),
  (
    'double precision',
    0.1,
    'double precision',
    'operators of f64 take %.3g ms of %.3g ms per step; most: %s(%s)',
    ' in %s',
    'float32 or bf16 unless the result needs it: look for .double(), float64 in NumPy and torch.set_default_dtype'
  ),
  (
    'optimizer',
    0.5,
    'optimizer',
    '%.3g ms of %.3g ms per step',
    '; %s takes %.0f %% of it',
    'updates usually take a small part of a step: use few kernels (fused=True, foreach=True), or larger batches'
  ),
  (
    'operator of the optimizer',
    0.5,
    'optimizer',
    '%.3g ms of %.3g ms per step',
    '; %s takes %.0f %% of it',
    'updates usually take a small part of a step: replace this operator, or call it less often'
  ),
  (
    'outside of phases',
    0.5,
    'outside of forward, backward and optimizer',
    '%.3g ms of %.3g ms per step',
    '; %s takes %.0f %% of it',
    'validation, logging and metrics belong to it: do less of it, or less often'
  ),
  ('wrong precision', 0.1, '%s', '%s: %s', NULL, 'use bf16 or TF32: autocast, torch.set_float32_matmul_precision'),
  ('memory-bound', 0.1, '%s', '%s: %s', NULL, 'fuse it with its neighbors, so that it moves fewer bytes'),
  ('compute-bound', 0.1, '%s', '%s: %s', NULL, 'it can only do less, or the same in a lower precision'),
  ('latency-bound', 0.1, '%s', '%s: %s', NULL, 'do more per call: larger batches, fused operators'),
  ('waiting for communication', 0.1, '%s', '%s: %s', NULL, 'give all ranks the same work before it'),
  ('communication-bound', 0.1, '%s', '%s: %s', NULL, 'overlap it with compute, or exchange less'),
  ('cannot be determined from these passes', 0.1, '%s', '%s: %s', NULL, ''),
  (
    'compilation',
    0.1,
    'compilation in measured steps',
    '%d compilations take %.3g ms in %d of %d measured steps',
    '; most often: %s',
    'mark sizes that change as dynamic (mark_dynamic, dynamic=True), or observe later steps (--steps)'
  ),
  (
    'graph breaks',
    1,
    'graph breaks',
    '%d, the first: %s',
    NULL,
    'rewrite the code at these lines: kernels are not fused across them'
  )
)
SELECT
  -- name of the rule; those of operators are verdicts of op_verdict
  rule,
  -- value from which a measure is a finding: share of a step, or number per step
  least,
  -- subject of the finding, a printf() format
  subject,
  -- format of the numbers that it is based on
  evidence,
  -- format of what follows them if it is known; or NULL
  detail,
  -- what to do next; empty if the view that has the measure knows it
  next_step
FROM rule;

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

-- What takes so much of a step that it is worth looking at, and what to do next, by the rules of finding_rule; for rank
-- 0. Shares are those of the pass that recorded them and overlap, for example idle time and the phase in which it
-- occurs. Databases of earlier versions have the idle time of the whole step only. Values that the host reads are
-- counted outside of the optimizer, which reads its own step numbers on a CPU.
CREATE VIEW step_finding AS
WITH rule AS (SELECT * FROM finding_rule)
SELECT
  -- run
  m.run_id,
  -- what takes the time
  r.subject,
  -- share of a step; NULL if unknown, or if something was not recorded
  m.share,
  -- the numbers that it is based on
  printf(r.evidence, m.ms, m.step_ms, m.gaps)
  || CASE WHEN m.places IS NULL THEN '' ELSE printf(r.detail, m.places) END AS evidence,
  -- what to do next
  r.next_step
FROM (
  SELECT
    run_id,
    ms / step_ms AS share,
    ms,
    step_ms,
    gaps,
    places
  FROM _other_idle_time
  UNION ALL
  SELECT
    g.run_id,
    g.idle_share,
    g.idle_ms,
    g.span_ms,
    g.gaps,
    NULL
  FROM launch_gap g
  WHERE
    g.rank = 0
    AND g.phase = 'step'
    AND NOT EXISTS (SELECT 1 FROM idle_total i WHERE i.run_id = g.run_id AND i.rank = 0 AND i.pass = g.pass)
) m
JOIN rule r ON r.rule = 'idle GPU'
WHERE m.share >= r.least
UNION ALL
SELECT
  m.run_id,
  r.subject,
  m.ms / m.step_ms,
  printf(r.evidence, m.ms, m.step_ms),
  r.next_step
FROM (
  SELECT
    s.run_id,
    avg(CASE WHEN s.phase IN ('data_loading', 'data') THEN s.host_ms END) AS ms,
    avg(CASE s.phase WHEN 'step' THEN s.host_ms END) AS step_ms
  FROM pass_step_time s
  WHERE s.rank = 0 AND s.warmup = 0 AND s.is_least_observed = 1
  GROUP BY s.run_id
) m
JOIN rule r ON r.rule = 'data loading'
WHERE m.ms / m.step_ms >= r.least
UNION ALL
SELECT
  m.run_id,
  r.subject,
  m.share,
  printf(r.evidence, m.calls, m.calls_of_phase, m.phase)
  || CASE WHEN m.idle_ms IS NULL THEN '' ELSE printf(r.detail, m.idle_ms) END,
  r.next_step
FROM (
  SELECT
    e.run_id,
    e.phase,
    max(e.calls) AS calls_of_phase,
    sum(e.calls) AS calls,
    i.ms AS idle_ms,
    i.ms / i.step_ms AS share
  FROM (
    SELECT
      run_id,
      phase,
      sum(1.0 * calls / steps) AS calls
    FROM kernel_entry
    WHERE rank = 0 AND kind = 'memcpy' AND name = 'memcpy device to host'
    GROUP BY run_id, phase
  ) e
  LEFT JOIN (
    SELECT
      run_id,
      sum(after_copy_ms) AS ms,
      max(step_ms) AS step_ms
    FROM idle_time
    WHERE rank = 0 AND phase NOT IN ('data_loading', 'data')
    GROUP BY run_id
  ) i ON i.run_id = e.run_id
  GROUP BY e.run_id
) m
JOIN rule r ON r.rule = 'copies to the host'
WHERE m.calls >= r.least
UNION ALL
SELECT
  m.run_id,
  r.subject,
  1 - (m.operator_ms + m.loading_ms + m.exposed_ms) / m.step_ms,
  printf(r.evidence, m.operator_ms, m.step_ms)
  || CASE WHEN m.loading_ms + m.exposed_ms > 0 THEN printf(r.detail, m.loading_ms, m.exposed_ms) ELSE '' END,
  r.next_step
FROM (
  SELECT
    r.run_id,
    (
      SELECT sum(o.self_ms)
      FROM op_summary o
      WHERE
        o.run_id = r.run_id AND o.rank = 0 AND o.pass = 'ops' AND o.phase NOT IN ('step', 'data_loading', 'data')
    ) AS operator_ms,
    (
      SELECT sum(CASE WHEN s.phase IN ('data_loading', 'data') THEN s.host_ns ELSE 0 END) / 1e6 / sum(s.phase = 'step')
      FROM sample s
      WHERE s.run_id = r.run_id AND s.rank = 0 AND s.pass = 'ops' AND s.warmup = 0
    ) AS loading_ms,
    coalesce((
      SELECT avg(a.exposed_comm_ns) / 1e6
      FROM step_activity a
      WHERE a.run_id = r.run_id AND a.rank = 0 AND a.pass = 'ops' AND a.warmup = 0 AND a.phase = 'step'
    ), 0) AS exposed_ms,
    (
      SELECT avg(s.host_ns / 1e6)
      FROM _measured_step s
      WHERE s.run_id = r.run_id AND s.rank = 0 AND s.pass = 'ops'
    ) AS step_ms
  FROM run r
  WHERE r.device_kind = 'cpu'
) m
JOIN rule r ON r.rule = 'host code'
WHERE 1 - (m.operator_ms + m.loading_ms + m.exposed_ms) / m.step_ms >= r.least
UNION ALL
SELECT
  m.run_id,
  r.subject,
  m.exposed_share,
  printf(r.evidence, m.exposed_ms, m.span_ms),
  r.next_step
FROM (
  SELECT
    run_id,
    exposed_share,
    exposed_ms,
    span_ms
  FROM communication_overlap
  WHERE rank = 0 AND phase = 'step'
  UNION ALL
  SELECT
    a.run_id,
    1.0 * sum(a.exposed_comm_ns) / sum(a.end_ns - a.start_ns),
    avg(a.exposed_comm_ns) / 1e6,
    avg(a.end_ns - a.start_ns) / 1e6
  FROM run r
  JOIN step_activity a ON a.run_id = r.run_id
  WHERE r.device_kind = 'cpu' AND a.rank = 0 AND a.pass = 'ops' AND a.warmup = 0 AND a.phase = 'step'
  GROUP BY a.run_id
) m
JOIN rule r ON r.rule = 'exposed communication'
WHERE m.exposed_share >= r.least
UNION ALL
SELECT
  m.run_id,
  printf(r.subject, m.what, CASE m.module WHEN '' THEN 'outside of modules' ELSE 'in ' || m.module END),
  m.ms / m.step_ms,
  printf(r.evidence, m.calls, 1e3 * (m.ms - coalesce(m.idle_ms, 0)) / m.calls, m.ms, m.step_ms, m.name, m.calls_of_name)
  || CASE WHEN m.idle_ms IS NULL THEN '' ELSE printf(r.detail, m.idle_ms) END,
  r.next_step
FROM _short_operators m
JOIN rule r
  ON r.rule = CASE WHEN m.is_optimizer THEN 'short calls in the optimizer' ELSE 'short calls in a module' END
WHERE m.ms / m.step_ms >= r.least
UNION ALL
SELECT
  m.run_id,
  r.subject,
  m.ms / m.step_ms,
  printf(r.evidence, m.ms, m.step_ms, m.name, m.arguments)
  || CASE WHEN m.module <> '' THEN printf(r.detail, m.module) ELSE '' END,
  r.next_step
FROM (
  SELECT
    o.run_id,
    o.name,
    o.arguments,
    o.module,
    max(o.time_ms) AS longest_ms,
    sum(o.time_ms) AS ms,
    (
      SELECT avg(s.host_ns) / 1e6
      FROM _measured_step s
      WHERE s.run_id = o.run_id AND s.rank = 0 AND s.pass = 'ops'
    ) AS step_ms
  FROM op_roofline o
  WHERE o.rank = 0 AND o.pass = 'ops' AND o.dtype = 'f64' AND o.kind <> 'overhead'
  GROUP BY o.run_id
) m
JOIN rule r ON r.rule = 'double precision'
WHERE m.ms / m.step_ms >= r.least
UNION ALL
SELECT
  m.run_id,
  r.subject,
  NULL,
  printf(r.evidence, m.calls, coalesce(nullif(m.module, ''), 'phase ' || m.phase)),
  r.next_step
FROM (
  SELECT
    o.run_id,
    o.module,
    o.phase,
    max(o.calls) AS calls_of_place,
    sum(o.calls) AS calls
  FROM run r
  JOIN op_by_scope o ON o.run_id = r.run_id AND o.rank = 0 AND o.pass = 'ops'
  WHERE
    r.device_kind = 'cpu'
    AND o.name = 'aten::_local_scalar_dense'
    AND o.phase NOT IN ('data_loading', 'data', 'optimizer')
  GROUP BY o.run_id
) m
JOIN rule r ON r.rule = 'values read by the host'
WHERE m.calls >= r.least
UNION ALL
SELECT
  m.run_id,
  r.subject,
  m.ms / m.step_ms,
  printf(r.evidence, m.ms, m.step_ms)
  || CASE WHEN m.name_share >= 0.1 THEN printf(r.detail, m.name, 100 * m.name_share) ELSE '' END,
  CASE WHEN m.name IS NULL THEN '--passes ops names the operators that take it' ELSE r.next_step END
FROM _dominant_phase m
JOIN rule r
  ON r.rule = CASE
    WHEN m.phase = 'other' THEN 'outside of phases'
    WHEN m.name_share > 0.5 THEN 'operator of the optimizer'
    ELSE 'optimizer'
  END
WHERE m.ms / m.step_ms >= r.least
UNION ALL
SELECT
  m.run_id,
  printf(r.subject, m.name || coalesce(' in ' || nullif(m.module, ''), '')),
  m.share,
  printf(r.evidence, m.verdict, m.reason),
  coalesce(nullif(m.next_step, ''), r.next_step)
FROM (
  SELECT
    o.*,
    coalesce(
      o.time_ms
      / (
        SELECT avg(s.host_ns) / 1e6
        FROM _measured_step s
        WHERE s.run_id = o.run_id AND s.rank = 0 AND s.pass = o.pass
      ),
      o.share_of_step
    ) AS share
  FROM op_verdict o
  WHERE
    o.rank = 0
    AND o.phase NOT IN ('data_loading', 'data')
    AND (o.attained IS NOT NULL OR o.verdict <> 'cannot be determined from these passes')
    AND NOT (o.dtype = 'f64' AND o.pass = 'ops')
    AND NOT EXISTS (SELECT 1 FROM _short_operators m WHERE m.run_id = o.run_id AND m.module = coalesce(o.module, ''))
) m
JOIN rule r ON r.rule = m.verdict
WHERE m.share >= r.least
UNION ALL
SELECT
  m.run_id,
  r.subject,
  m.compile_ms / m.step_ms,
  printf(r.evidence, m.compilations, m.compile_ms, m.compiled_steps, m.steps)
  || CASE WHEN m.cause IS NULL THEN '' ELSE printf(r.detail, m.cause) END,
  r.next_step
FROM (
  SELECT
    s.run_id,
    sum(s.compilations) AS compilations,
    sum(s.compile_ms) AS compile_ms,
    count(*) AS compiled_steps,
    (
      SELECT count(*)
      FROM _measured_step x
      WHERE x.run_id = s.run_id AND x.rank = 0 AND x.pass = s.pass
    ) AS steps,
    (
      SELECT sum(x.host_ns) / 1e6
      FROM _measured_step x
      WHERE x.run_id = s.run_id AND x.rank = 0 AND x.pass = s.pass
    ) AS step_ms,
    (
      SELECT e.location || ' (' || e.reason || ')'
      FROM compilation_cause e
      WHERE e.run_id = s.run_id AND e.rank = 0 AND e.kind = 'recompilation' AND e.measured > 0
      ORDER BY e.measured DESC, e.ms DESC, e.location, e.reason
      LIMIT 1
    ) AS cause
  FROM compilation_step s
  WHERE s.rank = 0 AND s.measured = 1 AND s.is_least_observed = 1 AND s.compilations > 0
  GROUP BY s.run_id, s.pass
) m
JOIN rule r ON r.rule = 'compilation'
WHERE m.compile_ms / m.step_ms >= r.least
UNION ALL
SELECT
  m.run_id,
  r.subject,
  NULL,
  printf(r.evidence, m.count, m.cause),
  r.next_step
FROM (
  SELECT
    g.run_id,
    count(*) AS count,
    (
      SELECT e.location || ' (' || e.reason || ')'
      FROM compilation_event e
      WHERE e.run_id = g.run_id AND e.rank = 0 AND e.pass = g.pass AND e.kind = 'graph_break'
      ORDER BY e.sequence
      LIMIT 1
    ) AS cause
  FROM compilation_event g
  WHERE g.rank = 0 AND g.kind = 'graph_break' AND g.is_least_observed = 1
  GROUP BY g.run_id, g.pass
) m
JOIN rule r ON r.rule = 'graph breaks'
WHERE m.count >= r.least;

-- What a run did not record, and which option records it; for rank 0.
CREATE VIEW not_recorded AS
SELECT DISTINCT
  -- run
  m.run_id,
  -- what is missing
  'not observed' AS subject,
  -- why, or what is therefore unknown
  m.value AS evidence,
  -- option that records it, or empty
  '' AS next_step
FROM metric m
WHERE m.rank = 0 AND m.name = 'not_observed'
UNION ALL
SELECT
  r.run_id,
  'arguments of operators',
  'not recorded: without them, the work of operators is unknown',
  '--passes ops --trace-detail shapes'
FROM run r
WHERE
  r.status = 'ok'
  AND EXISTS (SELECT 1 FROM op_summary o WHERE o.run_id = r.run_id)
  AND NOT EXISTS (SELECT 1 FROM op_roofline o WHERE o.run_id = r.run_id)
UNION ALL
SELECT DISTINCT
  o.run_id,
  'peaks of the device',
  'not measured: how close operators come to them is unknown',
  'kymo peaks'
FROM op_work o
JOIN rank k ON k.run_id = o.run_id AND k.rank = o.rank AND k.pass = o.pass
WHERE o.rank = 0 AND NOT EXISTS (SELECT 1 FROM device_peak p WHERE p.device_id = k.device_id)
UNION ALL
SELECT
  r.run_id,
  'memory',
  'not recorded',
  '--passes memory'
FROM run r
WHERE
  r.status = 'ok'
  AND EXISTS (SELECT 1 FROM pass_step_time s WHERE s.run_id = r.run_id)
  AND NOT EXISTS (SELECT 1 FROM memory_timeline m WHERE m.run_id = r.run_id);
