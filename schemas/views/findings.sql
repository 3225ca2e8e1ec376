-- SPDX-License-Identifier: Apache-2.0
-- What limits the steps of a run, from all passes that recorded it. step_finding names finding_rule in a WITH clause:
-- SQLite then reads it once instead of for each measure.

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
  printf(
    r.evidence,
    round(m.calls, 1),
    round(coalesce(m.calls_of_line, m.calls_of_phase), 1),
    coalesce(m.location, m.phase)
  )
  || CASE WHEN m.idle_ms IS NULL THEN '' ELSE printf(r.detail, m.idle_ms) END,
  r.next_step
FROM (
  SELECT
    e.run_id,
    e.phase,
    max(e.calls) AS calls_of_phase,
    sum(e.calls) AS calls,
    h.location,
    CASE WHEN h.location IS NOT NULL THEN h.calls END AS calls_of_line,
    i.ms AS idle_ms,
    i.ms / i.step_ms AS share
  FROM (
    SELECT
      run_id,
      pass,
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
  LEFT JOIN _copying_line h ON h.run_id = e.run_id AND h.pass = e.pass
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
  printf(r.evidence, round(m.calls, 1), coalesce(m.location, nullif(m.module, ''), 'phase ' || m.phase)),
  r.next_step
FROM (
  SELECT
    o.run_id,
    o.module,
    o.phase,
    h.location,
    max(o.calls) AS calls_of_place,
    sum(o.calls) AS calls
  FROM run r
  JOIN op_by_scope o ON o.run_id = r.run_id AND o.rank = 0 AND o.pass = 'ops'
  LEFT JOIN _copying_line h ON h.run_id = r.run_id AND h.pass = 'ops'
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
