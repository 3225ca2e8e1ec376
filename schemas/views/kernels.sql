-- SPDX-License-Identifier: Apache-2.0
-- Kernels on the GPU in the measured steps, by name, class, phase and module. Sums are per step and include copies and
-- memsets; concurrent work counts separately. Views with the phase `step` have one row for the whole step in addition
-- to the rows of its phases; `other` is work outside of phases.

-- The pass whose kernels are used: trace if it has any, otherwise ops. All kernel views use this one.
CREATE VIEW kernel_pass AS
SELECT
  -- run
  k.run_id,
  -- rank
  k.rank,
  -- trace or ops
  k.pass
FROM rank k
WHERE
  (
    k.pass = 'trace'
    OR k.pass = 'ops'
    AND NOT EXISTS (SELECT 1 FROM kernel_total o WHERE o.run_id = k.run_id AND o.rank = k.rank AND o.pass = 'trace')
  )
  AND EXISTS (SELECT 1 FROM kernel_total t WHERE t.run_id = k.run_id AND t.rank = k.rank AND t.pass = k.pass);

-- The rows of kernel_total of the selected pass with their strings, which the other kernel views aggregate. Sums are
-- over all measured steps, not per step.
CREATE VIEW kernel_entry AS
SELECT
  -- run
  t.run_id,
  -- rank that launched them
  t.rank,
  -- pass in which they ran
  t.pass,
  -- kernel, memcpy or memset
  t.kind,
  -- id of the phase in string; NULL if unknown or outside of phases
  t.phase_id,
  -- phase that launched them; `other` outside of phases
  coalesce((SELECT p.text FROM string p WHERE p.string_id = t.phase_id), 'other') AS phase,
  -- id of the scope path in string; NULL if unknown
  t.scope_id,
  -- scope path without the indices of repeated modules
  (SELECT q.module FROM scope_path q WHERE q.scope_id = t.scope_id) AS module,
  -- how they were attributed, as in kernel
  t.attribution,
  -- id of the name in string
  t.name_id,
  -- full name
  (SELECT n.text FROM string n WHERE n.string_id = t.name_id) AS name,
  -- name without template arguments, parameters and namespaces
  coalesce(
    (SELECT c.short_name FROM kernel_class c WHERE c.name_id = t.name_id),
    (SELECT n.text FROM string n WHERE n.string_id = t.name_id)
  ) AS short_name,
  -- kernel class
  coalesce(
    (SELECT c.class FROM kernel_class c WHERE c.name_id = t.name_id),
    CASE t.kind WHEN 'memcpy' THEN 'copy' WHEN 'memset' THEN 'memset' ELSE 'other' END
  ) AS class,
  -- number of measured steps in the sums
  t.steps,
  -- number of executions
  t.calls,
  -- bytes copied or set; 0 for kernels
  t.bytes,
  -- sum of durations
  t.total_ns,
  -- shortest duration
  t.min_ns,
  -- longest duration
  t.max_ns
FROM kernel_pass k
CROSS JOIN kernel_total t ON t.run_id = k.run_id AND t.rank = k.rank AND t.pass = k.pass;

-- Each kernel, copy and memset by name, within each phase and the whole step.
CREATE VIEW kernel_summary AS
SELECT
  -- run
  g.run_id,
  -- rank that launched it
  g.rank,
  -- pass in which it ran
  g.pass,
  -- phase that launched it; `step` is the whole step, `other` outside of phases
  CASE WHEN g.whole THEN 'step' ELSE coalesce(p.text, 'other') END AS phase,
  -- kernel class
  coalesce(c.class, CASE g.kind WHEN 'memcpy' THEN 'copy' WHEN 'memset' THEN 'memset' ELSE 'other' END) AS class,
  -- name without template arguments, parameters and namespaces
  coalesce(c.short_name, n.text) AS short_name,
  -- full name
  n.text AS name,
  -- number of measured steps
  g.steps,
  -- calls per step
  1.0 * g.calls / g.steps AS calls,
  -- time per step
  g.total_ns / 1e6 / g.steps AS total_ms,
  -- mean duration of a call
  g.total_ns / 1e3 / g.calls AS mean_us,
  -- shortest call
  g.min_ns / 1e3 AS min_us,
  -- longest call
  g.max_ns / 1e3 AS max_us,
  -- share of the device time of the phase
  1.0 * g.total_ns / nullif(g.phase_ns, 0) AS share_of_phase,
  -- share of the device time of the whole step
  1.0 * g.total_ns
  / nullif(sum(CASE WHEN g.whole THEN g.total_ns END) OVER (PARTITION BY g.run_id, g.rank), 0) AS share_of_step
FROM (
  SELECT
    *,
    sum(total_ns) OVER (PARTITION BY run_id, rank, whole, phase_id) AS phase_ns
  FROM (
    SELECT
      m.run_id,
      m.rank,
      m.pass,
      b.whole,
      CASE WHEN b.whole THEN NULL ELSE m.phase_id END AS phase_id,
      m.name_id,
      m.kind,
      m.steps,
      CASE WHEN b.whole THEN m.step_calls ELSE m.calls END AS calls,
      CASE WHEN b.whole THEN m.step_ns ELSE m.total_ns END AS total_ns,
      CASE WHEN b.whole THEN m.step_min_ns ELSE m.min_ns END AS min_ns,
      CASE WHEN b.whole THEN m.step_max_ns ELSE m.max_ns END AS max_ns
    FROM (
      SELECT
        *,
        sum(calls) OVER (PARTITION BY run_id, rank, name_id) AS step_calls,
        sum(total_ns) OVER (PARTITION BY run_id, rank, name_id) AS step_ns,
        min(min_ns) OVER (PARTITION BY run_id, rank, name_id) AS step_min_ns,
        max(max_ns) OVER (PARTITION BY run_id, rank, name_id) AS step_max_ns,
        coalesce(phase_id, 0) = min(coalesce(phase_id, 0)) OVER (PARTITION BY run_id, rank, name_id) AS is_first
      FROM (
        SELECT
          run_id,
          rank,
          pass,
          phase_id,
          name_id,
          max(kind) AS kind,
          max(steps) AS steps,
          sum(calls) AS calls,
          sum(total_ns) AS total_ns,
          min(min_ns) AS min_ns,
          max(max_ns) AS max_ns
        FROM kernel_entry
        GROUP BY run_id, rank, pass, phase_id, name_id
      )
    ) m
    JOIN (
      SELECT 0 AS whole
      UNION ALL
      SELECT 1
    ) b ON b.whole = 0 OR m.is_first
  )
) g
JOIN string n ON n.string_id = g.name_id
LEFT JOIN string p ON p.string_id = g.phase_id
LEFT JOIN kernel_class c ON c.name_id = g.name_id;

-- Each kernel class, within each phase and the whole step.
CREATE VIEW kernel_by_phase AS
SELECT
  -- run
  g.run_id,
  -- rank that launched them
  g.rank,
  -- pass in which they ran
  g.pass,
  -- phase; `step` is the whole step, `other` outside of phases
  CASE WHEN g.whole THEN 'step' ELSE coalesce(p.text, 'other') END AS phase,
  -- kernel class
  g.class,
  -- calls per step
  1.0 * g.calls / g.steps AS calls,
  -- time per step
  g.total_ns / 1e6 / g.steps AS total_ms,
  -- share of the device time of the phase
  1.0 * g.total_ns / nullif(g.phase_ns, 0) AS share_of_phase,
  -- share of the device time of the whole step
  1.0 * g.total_ns
  / nullif(sum(CASE WHEN g.whole THEN g.total_ns END) OVER (PARTITION BY g.run_id, g.rank), 0) AS share_of_step
FROM (
  SELECT
    *,
    sum(total_ns) OVER (PARTITION BY run_id, rank, whole, phase_id) AS phase_ns
  FROM (
    SELECT
      m.run_id,
      m.rank,
      m.pass,
      b.whole,
      CASE WHEN b.whole THEN NULL ELSE m.phase_id END AS phase_id,
      m.class,
      m.steps,
      CASE WHEN b.whole THEN m.step_calls ELSE m.calls END AS calls,
      CASE WHEN b.whole THEN m.step_ns ELSE m.total_ns END AS total_ns
    FROM (
      SELECT
        *,
        sum(calls) OVER (PARTITION BY run_id, rank, class) AS step_calls,
        sum(total_ns) OVER (PARTITION BY run_id, rank, class) AS step_ns,
        coalesce(phase_id, 0) = min(coalesce(phase_id, 0)) OVER (PARTITION BY run_id, rank, class) AS is_first
      FROM (
        SELECT
          run_id,
          rank,
          pass,
          phase_id,
          class,
          max(steps) AS steps,
          sum(calls) AS calls,
          sum(total_ns) AS total_ns
        FROM kernel_entry
        GROUP BY run_id, rank, pass, phase_id, class
      )
    ) m
    JOIN (
      SELECT 0 AS whole
      UNION ALL
      SELECT 1
    ) b ON b.whole = 0 OR m.is_first
  )
) g
LEFT JOIN string p ON p.string_id = g.phase_id;

-- Each module within each phase, by kernel class. The time of nested modules is excluded.
CREATE VIEW kernel_by_scope AS
SELECT
  -- run
  g.run_id,
  -- rank that launched them
  g.rank,
  -- pass in which they ran
  g.pass,
  -- phase; `other` outside of phases
  g.phase,
  -- scope path without the indices of repeated modules; NULL if unknown
  g.module,
  -- kernel class
  g.class,
  -- calls per step
  1.0 * g.calls / g.steps AS calls,
  -- time per step
  g.total_ns / 1e6 / g.steps AS total_ms,
  -- share of the device time of the phase
  1.0 * g.total_ns / nullif(g.phase_ns, 0) AS share_of_phase,
  -- share of the device time of the whole step
  1.0 * g.total_ns / nullif(sum(g.total_ns) OVER (PARTITION BY g.run_id, g.rank), 0) AS share_of_step
FROM (
  SELECT
    *,
    sum(total_ns) OVER (PARTITION BY run_id, rank, phase) AS phase_ns
  FROM (
    SELECT
      run_id,
      rank,
      pass,
      phase,
      module,
      class,
      max(steps) AS steps,
      sum(calls) AS calls,
      sum(total_ns) AS total_ns
    FROM kernel_entry
    GROUP BY run_id, rank, pass, phase, module, class
  )
) g;

-- Share of matrix multiplications in the device time, and the largest other class. A fused attention kernel is of class
-- attention, including its matrix multiplications.
CREATE VIEW matmul_share AS
SELECT
  -- run
  c.run_id,
  -- rank
  c.rank,
  -- pass in which the kernels ran
  c.pass,
  -- phase; `step` is the whole step, `other` outside of phases
  c.phase,
  -- device time per step of all kernels, copies and memsets
  c.device_ms,
  -- device time per step of class matmul
  c.matmul_ms,
  -- share of the device time
  c.matmul_ms / nullif(c.device_ms, 0) AS matmul_share,
  -- other class with the most time; NULL if there is none
  CASE WHEN c.class <> 'matmul' THEN c.class END AS largest_other,
  -- its share of the device time
  CASE WHEN c.class <> 'matmul' THEN c.share_of_phase END AS largest_other_share
FROM (
  SELECT
    *,
    row_number() OVER (PARTITION BY run_id, rank, phase ORDER BY class = 'matmul', total_ms DESC, class) AS position
  FROM (
    SELECT
      *,
      sum(total_ms) OVER (PARTITION BY run_id, rank, phase) AS device_ms,
      sum(CASE class WHEN 'matmul' THEN total_ms ELSE 0.0 END) OVER (PARTITION BY run_id, rank, phase) AS matmul_ms
    FROM kernel_by_phase
  )
) c
WHERE c.position = 1;

-- The three parts of unfused attention in the forward pass: time, floating-point operations and rate. Times are device
-- times, or on a CPU the host times of the scopes. Runs without these scopes have no rows.
CREATE VIEW attention_breakdown AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass in which the time was measured
  t.pass,
  -- device or host
  t.clock,
  -- scores (QKᵀ), softmax, or values (softmax weights times V)
  t.part,
  -- time per step, over all layers
  t.total_ms,
  -- share of the time of the three parts
  t.total_ms / nullif(sum(t.total_ms) OVER (PARTITION BY t.run_id, t.rank), 0) AS time_share,
  -- floating-point operations per step, as reported by the workload; NULL if not reported
  t.flops,
  -- share of the operations of the three parts
  t.flops / sum(t.flops) OVER (PARTITION BY t.run_id, t.rank) AS flops_share,
  -- operations per second
  t.flops / nullif(t.total_ms / 1e3, 0) AS flops_per_s
FROM (
  SELECT
    m.run_id,
    m.rank,
    m.pass,
    m.clock,
    m.part,
    m.total_ms,
    (
      SELECT x.value
      FROM metric x
      WHERE x.run_id = m.run_id AND x.rank = m.rank AND x.level = 'run' AND x.name = 'attention_' || m.part || '_flops'
      ORDER BY x.pass <> 'time', x.pass, x.sequence
      LIMIT 1
    ) AS flops
  FROM (
    SELECT
      e.run_id,
      e.rank,
      e.pass,
      'device' AS clock,
      p.part,
      sum(e.total_ns) / 1e6 / max(e.steps) AS total_ms
    FROM kernel_entry e
    JOIN (
      SELECT
        q.scope_id,
        w.part
      FROM scope_path q
      JOIN (
        SELECT 'scores' AS part
        UNION ALL
        SELECT 'softmax'
        UNION ALL
        SELECT 'values'
      ) w ON q.module = w.part OR '/' || q.module LIKE '%/attention/' || w.part
    ) p ON p.scope_id = e.scope_id
    WHERE e.phase_id = (SELECT f.string_id FROM string f WHERE f.text = 'forward')
    GROUP BY e.run_id, e.rank, e.pass, p.part
    UNION ALL
    SELECT
      h.run_id,
      h.rank,
      h.pass,
      'host',
      p.part,
      sum(h.total_ms)
    FROM cpu_scope_time h
    JOIN (
      SELECT 'scores' AS part
      UNION ALL
      SELECT 'softmax'
      UNION ALL
      SELECT 'values'
    ) p ON h.module = p.part OR '/' || h.module LIKE '%/attention/' || p.part
    WHERE h.phase = 'forward'
    GROUP BY h.run_id, h.rank, h.pass, p.part
  ) m
) t;

-- Share of the device time in kernels that match no class pattern.
CREATE VIEW class_coverage AS
SELECT
  -- run
  e.run_id,
  -- rank
  e.rank,
  -- pass in which the kernels ran
  e.pass,
  -- device time per step
  sum(e.total_ns) / 1e6 / max(e.steps) AS device_ms,
  -- device time per step of class other
  sum(CASE e.class WHEN 'other' THEN e.total_ns ELSE 0 END) / 1e6 / max(e.steps) AS other_ms,
  -- its share of the device time
  1.0 * sum(CASE e.class WHEN 'other' THEN e.total_ns ELSE 0 END) / nullif(sum(e.total_ns), 0) AS other_share,
  -- number of distinct names in class other
  count(DISTINCT CASE e.class WHEN 'other' THEN e.name_id END) AS other_names
FROM kernel_entry e
GROUP BY e.run_id, e.rank, e.pass;
