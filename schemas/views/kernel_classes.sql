-- SPDX-License-Identifier: Apache-2.0
-- The classes of kernels in the measured steps: matrix products, attention, and what has a class at all. Sums
-- are per step, as in the other views of kernels.

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
  -- part of the time in kernels of class matmul, without scaling and masking; NULL on the host
  t.matmul_ms,
  -- floating-point operations per step, as reported by the workload; NULL if not reported
  t.flops,
  -- share of the operations of the three parts
  1.0 * t.flops / sum(t.flops) OVER (PARTITION BY t.run_id, t.rank) AS flops_share,
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
    m.matmul_ms,
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
      sum(e.total_ns) / 1e6 / max(e.steps) AS total_ms,
      sum(CASE e.class WHEN 'matmul' THEN e.total_ns ELSE 0 END) / 1e6 / max(e.steps) AS matmul_ms
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
      sum(h.total_ms),
      NULL
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
