-- SPDX-License-Identifier: Apache-2.0
-- What limits the steps of a run, from all passes that recorded it.

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

-- What takes so much of a step that it is worth looking at, and what to do next; for rank 0. Shares are those of the
-- pass that recorded them and overlap, for example idle time and the phase in which it occurs. Phases are compared by
-- the time of their kernels on a GPU, for which the host does not wait, and on the host otherwise; those of workloads
-- that consist of an optimizer are no finding. Databases of earlier versions have the idle time of the whole step only.
-- Values that the host reads are counted outside of the optimizer, which reads its own step numbers on a CPU.
CREATE VIEW step_finding AS
WITH threshold (idle_share, share, copies, dominant_share) AS (VALUES (0.2, 0.1, 1, 0.5)),
phase_total AS (
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
dominant_phase AS (
  SELECT
    p.*,
    r.device_kind
  FROM phase_total p
  JOIN run r ON r.run_id = p.run_id
  CROSS JOIN threshold t
  WHERE
    p.ms > t.dominant_share * p.step_ms
    AND p.has_passes
    AND (p.phase = 'optimizer' OR p.phase = 'other' AND r.timing = 'free')
),
dominant_entry AS (
  SELECT
    e.run_id,
    e.phase,
    e.name,
    sum(e.ms) AS ms,
    row_number() OVER (PARTITION BY e.run_id, e.phase ORDER BY sum(e.ms) DESC, e.name) AS position
  FROM dominant_phase d
  CROSS JOIN profile_entry e ON e.run_id = d.run_id AND e.rank = 0 AND e.phase = d.phase
  GROUP BY e.run_id, e.phase, e.name
)
SELECT
  -- run
  g.run_id,
  -- what takes the time
  'idle GPU' AS subject,
  -- share of a step, at least a tenth, or a fifth for idle time; NULL if unknown, or if something was not recorded
  g.share,
  -- the numbers that it is based on
  printf('nothing runs on the GPU for %.3g ms of %.3g ms per step, in %.0f gaps', g.ms, g.step_ms, g.gaps)
  || coalesce('; the host is then in ' || g.places, '') AS evidence,
  -- what to do next
  'launch fewer kernels: CUDA graphs, torch.compile, fused operators; the timeline shows the gaps' AS next_step
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
) g
CROSS JOIN threshold t
WHERE g.share >= t.idle_share
UNION ALL
SELECT
  p.run_id,
  'data loading',
  p.share,
  printf('%.3g ms of %.3g ms per step', p.ms, p.step_ms),
  'load in more worker processes and further ahead: num_workers, prefetch_factor, pin_memory'
FROM (
  SELECT
    s.run_id,
    avg(CASE WHEN s.phase IN ('data_loading', 'data') THEN s.host_ms END) AS ms,
    avg(CASE s.phase WHEN 'step' THEN s.host_ms END) AS step_ms,
    avg(CASE WHEN s.phase IN ('data_loading', 'data') THEN s.host_ms END)
    / avg(CASE s.phase WHEN 'step' THEN s.host_ms END) AS share
  FROM pass_step_time s
  WHERE s.rank = 0 AND s.warmup = 0 AND s.is_least_observed = 1
  GROUP BY s.run_id
) p
CROSS JOIN threshold t
WHERE p.share >= t.share
UNION ALL
SELECT
  k.run_id,
  'copies to the host',
  k.idle_share,
  printf('%.3g per step, %.3g of them in %s', k.calls, k.calls_of_phase, k.phase)
  || CASE WHEN k.idle_ms IS NULL THEN '' ELSE printf('; nothing runs on the GPU for %.3g ms after them', k.idle_ms) END,
  'the host waits for the GPU at each copy to unpinned memory: keep values on the GPU, '
  || 'without .item(), .cpu(), .tolist() or printing'
FROM (
  SELECT
    e.run_id,
    e.phase,
    max(e.calls) AS calls_of_phase,
    sum(e.calls) AS calls,
    i.ms AS idle_ms,
    i.ms / i.step_ms AS idle_share
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
) k
CROSS JOIN threshold t
WHERE k.calls >= t.copies
UNION ALL
SELECT
  h.run_id,
  'host code outside of operators',
  1 - (h.operator_ms + h.exposed_ms + h.loading_ms) / h.step_ms,
  printf(
    'operators take %.3g ms%s%s of %.3g ms per step',
    h.operator_ms,
    CASE WHEN h.exposed_ms > 0 THEN printf(', communication alone %.3g ms', h.exposed_ms) ELSE '' END,
    CASE WHEN h.loading_ms > 0 THEN printf(', data loading %.3g ms', h.loading_ms) ELSE '' END,
    h.step_ms
  ),
  'the timeline shows what surrounds the time without operators'
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
) h
CROSS JOIN threshold t
WHERE 1 - (h.operator_ms + h.exposed_ms + h.loading_ms) / h.step_ms >= t.idle_share
UNION ALL
SELECT
  c.run_id,
  'exposed communication',
  c.exposed_share,
  printf('only communication runs for %.3g ms of %.3g ms per step', c.exposed_ms, c.span_ms),
  'start it earlier (buckets, overlap with backward), or exchange less (bf16 gradients)'
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
) c
CROSS JOIN threshold t
WHERE c.exposed_share >= t.share
UNION ALL
SELECT
  o.run_id,
  'many short ' || o.what || CASE
    WHEN o.is_optimizer THEN ' in the optimizer'
    WHEN o.module = '' THEN ' outside of modules'
    ELSE ' in ' || o.module
  END,
  o.ms / o.step_ms,
  printf(
    '%.0f calls of %.3g µs take %.3g ms of %.3g ms per step%s; most often %s, %.0f times',
    o.calls,
    1e3 * (o.ms - coalesce(o.idle_ms, 0)) / o.calls,
    o.ms,
    o.step_ms,
    CASE WHEN o.idle_ms IS NULL THEN '' ELSE printf(', %.3g ms of them with an idle GPU', o.idle_ms) END,
    o.name,
    o.calls_of_name
  ),
  CASE
    WHEN o.is_optimizer THEN 'update all parameters with few kernels: fused=True or foreach=True'
    ELSE 'compute on whole tensors instead of in a loop, or fuse them with torch.compile'
  END
FROM _short_operators o
CROSS JOIN threshold t
WHERE o.ms >= t.share * o.step_ms
UNION ALL
SELECT
  d.run_id,
  'double precision',
  d.ms / d.step_ms,
  printf(
    'operators of f64 take %.3g ms of %.3g ms per step; most: %s(%s)%s',
    d.ms,
    d.step_ms,
    d.name,
    d.arguments,
    coalesce(' in ' || nullif(d.module, ''), '')
  ),
  'float32 or bf16 unless the result needs it: look for .double(), float64 in NumPy and torch.set_default_dtype'
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
) d
CROSS JOIN threshold t
WHERE d.ms >= t.share * d.step_ms
UNION ALL
SELECT
  k.run_id,
  'values read by the host',
  NULL,
  printf(
    '%.3g per step, by .item(), float() or printing; most in %s',
    k.calls,
    coalesce(nullif(k.module, ''), 'phase ' || k.phase)
  ),
  'on a GPU, the host would wait at each: keep values in tensors, and read them every N steps'
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
) k
CROSS JOIN threshold t
WHERE k.calls >= t.copies
UNION ALL
SELECT
  p.run_id,
  CASE p.phase WHEN 'optimizer' THEN 'optimizer' ELSE 'outside of forward, backward and optimizer' END,
  p.share,
  p.evidence
  || CASE
    WHEN p.name_share >= p.least_share THEN printf('; %s takes %.0f %% of it', p.name, 100 * p.name_share)
    ELSE ''
  END,
  CASE
    WHEN p.name IS NULL THEN '--passes ops names the operators that take it'
    WHEN p.phase = 'other' THEN 'validation, logging and metrics belong to it: do less of it, or less often'
    WHEN p.name_share > p.dominant_share
      THEN 'updates usually take a small part of a step: replace this operator, or call it less often'
    ELSE 'updates usually take a small part of a step: use few kernels (fused=True, foreach=True), or larger batches'
  END
FROM (
  SELECT
    d.run_id,
    d.phase,
    d.ms / d.step_ms AS share,
    printf('%.3g ms of %.3g ms per step', d.ms / d.steps, d.step_ms / d.steps) AS evidence,
    e.name,
    e.ms
    / CASE d.device_kind
      WHEN 'cuda' THEN d.ms / d.steps
      ELSE
        (
          SELECT sum(CASE x.phase WHEN d.phase THEN x.host_ns END) / 1e6 / sum(x.phase = 'step')
          FROM sample x
          WHERE x.run_id = d.run_id AND x.rank = 0 AND x.pass = 'ops' AND x.warmup = 0
        )
    END AS name_share,
    t.dominant_share,
    t.share AS least_share
  FROM dominant_phase d
  CROSS JOIN threshold t
  LEFT JOIN dominant_entry e ON e.run_id = d.run_id AND e.phase = d.phase AND e.position = 1
) p
UNION ALL
SELECT
  v.run_id,
  v.name || coalesce(' in ' || nullif(v.module, ''), ''),
  v.share,
  v.verdict || ': ' || v.reason,
  CASE v.verdict
    WHEN 'wrong precision' THEN 'use bf16 or TF32: autocast, torch.set_float32_matmul_precision'
    WHEN 'memory-bound' THEN 'fuse it with its neighbors, so that it moves fewer bytes'
    WHEN 'compute-bound' THEN 'it can only do less, or the same in a lower precision'
    WHEN 'latency-bound' THEN 'do more per call: larger batches, fused operators'
    WHEN 'waiting for communication' THEN 'give all ranks the same work before it'
    WHEN 'communication-bound' THEN 'overlap it with compute, or exchange less'
    ELSE v.next_step
  END
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
) v
CROSS JOIN threshold t
WHERE v.share >= t.share
UNION ALL
SELECT
  c.run_id,
  'compilation in measured steps',
  c.compile_ms / c.step_ms,
  printf(
    '%d compilations take %.3g ms in %d of %d measured steps%s',
    c.compilations,
    c.compile_ms,
    c.compiled_steps,
    c.steps,
    coalesce('; most often: ' || c.cause, '')
  ),
  'mark sizes that change as dynamic (mark_dynamic, dynamic=True), or observe later steps (--steps)'
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
) c
CROSS JOIN threshold t
WHERE c.compile_ms >= t.share * c.step_ms
UNION ALL
SELECT
  b.run_id,
  'graph breaks',
  NULL,
  b.count || CASE b.count WHEN 1 THEN ' graph break' ELSE ' graph breaks' END || '; the first: ' || b.cause,
  'rewrite the code at these lines: kernels are not fused across them'
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
) b;

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
