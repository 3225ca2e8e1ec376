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
