-- SPDX-License-Identifier: Apache-2.0
-- Kernels and the operators that launched them.

-- Each kernel by module, name and launch configuration, within each phase, and each operator that launched it, with the
-- operator's row of op_verdict. A union and windows assign these, because SQLite would not index a join. The pass is
-- `ops` if operators with arguments launched kernels in it, otherwise that of kernel_pass.
CREATE VIEW _launched_kernel AS
WITH chosen AS (
  SELECT
    k.run_id,
    k.rank,
    CASE WHEN k.has_operators THEN 'ops' ELSE k.pass END AS pass,
    k.has_operators
  FROM (
    SELECT
      p.*,
      EXISTS(
        SELECT 1
        FROM kernel_total t
        WHERE t.run_id = p.run_id AND t.rank = p.rank AND t.pass = 'ops' AND t.op_work IS NOT NULL
      ) AS has_operators
    FROM kernel_pass p
  ) k
),
part AS (
  SELECT
    t.run_id,
    t.rank,
    t.pass,
    t.phase_id,
    q.module,
    t.name_id,
    t.launch_config,
    w.phase_id AS operator_phase_id,
    r.module AS operator_module,
    w.name_id AS operator_id,
    w.shapes_id,
    w.kind,
    w.dtype,
    w.recomputed,
    max(c.has_operators) AS has_operators,
    max(t.steps) AS steps,
    sum(t.calls) AS calls,
    sum(t.total_ns) AS operator_ns
  FROM chosen c
  CROSS JOIN kernel_total t ON t.run_id = c.run_id AND t.rank = c.rank AND t.pass = c.pass AND t.kind = 'kernel'
  LEFT JOIN scope_path q ON q.scope_id = t.scope_id
  LEFT JOIN op_work w ON w.run_id = t.run_id AND w.rank = t.rank AND w.pass = t.pass AND w.sequence = t.op_work
  LEFT JOIN scope_path r ON r.scope_id = w.scope_id
  GROUP BY
    t.run_id, t.rank, t.pass, t.phase_id, q.module, t.name_id, t.launch_config, w.phase_id, r.module, w.name_id,
    w.shapes_id, w.kind, w.dtype, w.recomputed
),
matched AS (
  SELECT
    u.*,
    max(u.verdict) OVER same AS operator_verdict,
    max(u.reason) OVER same AS operator_reason,
    max(u.next_step) OVER same AS operator_next_step,
    max(u.time_ms) OVER same AS operator_ms,
    max(u.flop_rate) OVER same AS operator_flop_rate,
    max(u.byte_rate) OVER same AS operator_byte_rate,
    max(u.attained) OVER same AS operator_attained
  FROM (
    SELECT
      p.run_id,
      p.rank,
      p.pass,
      p.phase_id,
      p.module,
      p.name_id,
      p.launch_config,
      p.has_operators,
      p.steps,
      p.calls,
      p.operator_ns,
      coalesce(f.text, 'other') AS operator_phase,
      p.operator_module,
      n.text AS operator,
      s.text AS arguments,
      p.kind,
      p.dtype,
      p.recomputed,
      NULL AS time_ms,
      NULL AS flop_rate,
      NULL AS byte_rate,
      NULL AS attained,
      NULL AS verdict,
      NULL AS reason,
      NULL AS next_step
    FROM part p
    LEFT JOIN string f ON f.string_id = p.operator_phase_id
    LEFT JOIN string n ON n.string_id = p.operator_id
    LEFT JOIN string s ON s.string_id = p.shapes_id
    UNION ALL
    SELECT
      run_id,
      rank,
      pass,
      NULL,
      NULL,
      NULL,
      NULL,
      NULL,
      NULL,
      NULL,
      NULL,
      phase,
      module,
      name,
      arguments,
      kind,
      dtype,
      recomputed,
      time_ms,
      flop_rate,
      byte_rate,
      attained,
      verdict,
      reason,
      next_step
    FROM op_verdict
    WHERE clock = 'device'
  ) u
  WINDOW same AS (
    PARTITION BY
      u.run_id, u.rank, u.pass, u.operator_phase, u.operator_module, u.operator, u.arguments, u.kind, u.dtype,
      u.recomputed
  )
)
SELECT
  -- run
  m.run_id,
  -- rank that launched it
  m.rank,
  -- pass in which it ran
  m.pass,
  -- string of the phase that launched it
  m.phase_id,
  -- scope path without the indices of repeated modules; NULL if unknown
  m.module,
  -- string of its name
  m.name_id,
  -- row of launch_config
  m.launch_config,
  -- 1 if operators with arguments launched kernels in the pass
  m.has_operators,
  -- measured steps
  m.steps,
  -- calls by this operator, in all steps
  m.calls,
  -- their time
  m.operator_ns,
  -- operator that launched them; NULL if none did
  m.operator,
  -- its arguments
  m.arguments,
  -- its type
  m.dtype,
  -- its row of op_verdict: verdict
  m.operator_verdict,
  -- reason
  m.operator_reason,
  -- next step
  m.operator_next_step,
  -- time per step
  m.operator_ms,
  -- floating-point operations per second
  m.operator_flop_rate,
  -- bytes per second
  m.operator_byte_rate,
  -- share of the roofline
  m.operator_attained,
  -- calls of the kernel by all operators
  sum(m.calls) OVER same AS all_calls,
  -- their time
  sum(m.operator_ns) OVER same AS total_ns,
  -- 1 for the operator that launched most of it
  row_number() OVER (
    PARTITION BY m.run_id, m.rank, m.pass, m.phase_id, m.module, m.name_id, m.launch_config
    ORDER BY m.operator_ns DESC, m.operator, m.arguments
  ) AS position
FROM matched m
WHERE m.name_id IS NOT NULL
WINDOW same AS (PARTITION BY m.run_id, m.rank, m.pass, m.phase_id, m.module, m.name_id, m.launch_config);
