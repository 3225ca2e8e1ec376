-- SPDX-License-Identifier: Apache-2.0
-- Sharded parameters, gradients and optimizer states.

-- Memory of each rank of optimizer_sharding runs at the workload's markers, from the memory pass: the last point of the
-- memory timeline at or before the marker; for markers within steps, that of the first measured step.
CREATE VIEW sharding_memory AS
WITH marker AS (
  SELECT
    d.run_id,
    m.rank,
    m.pass,
    d.scheme,
    d.scheme_order,
    d.variant,
    d.setting,
    d.comparison_group,
    r.invocation_id,
    r.device_kind,
    m.name,
    m.sequence,
    m.step,
    (
      SELECT p.sequence
      FROM memory_point p
      WHERE
        p.run_id = m.run_id
        AND p.rank = m.rank
        AND p.pass = m.pass
        AND p.device = r.device_kind
        AND p.time_ns <= m.time_ns
      ORDER BY p.sequence DESC
      LIMIT 1
    ) AS point,
    row_number() OVER (
      PARTITION BY m.run_id, m.rank, m.name
      ORDER BY coalesce(s.warmup, 0), m.step, m.sequence
    ) AS position
  FROM ddp_run d
  JOIN run r ON r.run_id = d.run_id
  JOIN mark m
    ON m.run_id = d.run_id
    AND m.pass = 'memory'
    AND m.name IN ('model_ready', 'optimizer_ready', 'before_optimizer', 'after_optimizer')
  LEFT JOIN sample s
    ON s.run_id = m.run_id AND s.rank = m.rank AND s.pass = m.pass AND s.step = m.step AND s.phase = 'step'
  WHERE d.family = 'optimizer_sharding'
),
held AS (
  SELECT *
  FROM (
    SELECT
      *,
      lag(point, 1, 0) OVER (PARTITION BY run_id, rank ORDER BY sequence) AS previous_point
    FROM marker
  )
  WHERE position = 1
),
live AS (
  SELECT
    h.*,
    coalesce(sum(a.allocated_bytes) FILTER (WHERE a.category = 'parameter'), 0) AS parameter_bytes,
    coalesce(sum(a.allocated_bytes) FILTER (WHERE a.category = 'gradient'), 0) AS gradient_bytes,
    coalesce(sum(a.allocated_bytes) FILTER (WHERE a.category = 'optimizer_state'), 0) AS optimizer_state_bytes,
    coalesce(sum(a.allocated_bytes) FILTER (WHERE a.category = 'activation'), 0) AS activation_bytes,
    coalesce(sum(a.allocated_bytes), 0) AS category_bytes
  FROM held h
  LEFT JOIN allocation a
    ON a.run_id = h.run_id
    AND a.rank = h.rank
    AND a.pass = h.pass
    AND a.device = h.device_kind
    AND a.sequence <= h.point
    AND coalesce(a.free_sequence > h.point, 1)
  WHERE h.point IS NOT NULL
  GROUP BY h.run_id, h.rank, h.name
)
SELECT
  -- run
  h.run_id,
  -- rank
  h.rank,
  -- as in ddp_run
  h.scheme,
  -- as in ddp_run
  h.scheme_order,
  -- as in ddp_run
  h.variant,
  -- as in ddp_run
  h.setting,
  -- as in ddp_run
  h.comparison_group,
  -- model_ready, optimizer_ready, before_optimizer or after_optimizer
  h.name AS marker,
  -- sort order
  CASE h.name
    WHEN 'model_ready' THEN 0
    WHEN 'optimizer_ready' THEN 1
    WHEN 'before_optimizer' THEN 2
    ELSE 3
  END AS marker_order,
  -- step of the marker; −1 outside of steps
  h.step,
  -- bytes allocated; NULL if no point is known
  p.allocated_bytes,
  -- most bytes allocated since the marker before
  (
    SELECT max(q.allocated_bytes)
    FROM memory_point q
    WHERE
      q.run_id = h.run_id
      AND q.rank = h.rank
      AND q.pass = h.pass
      AND q.device = h.device_kind
      AND q.sequence BETWEEN coalesce(h.previous_point, 0) AND h.point
  ) AS peak_bytes,
  -- allocated bytes of live blocks of this category
  l.parameter_bytes,
  -- allocated bytes of live blocks of this category
  l.gradient_bytes,
  -- allocated bytes of live blocks of this category
  l.optimizer_state_bytes,
  -- allocated bytes of live blocks of this category
  l.activation_bytes,
  -- allocated bytes of all other categories
  l.category_bytes - l.parameter_bytes - l.gradient_bytes - l.optimizer_state_bytes - l.activation_bytes AS other_bytes,
  -- optimizer state size of this rank, as reported by the workload; NULL if not reported
  (
    SELECT max(v.value)
    FROM metric v
    WHERE v.run_id = h.run_id AND v.rank = h.rank AND v.name = 'optimizer_state_bytes'
  ) AS declared_state_bytes,
  -- optimizer state over that of the same rank and marker in the newest unsharded run in the same comparison group;
  -- NULL if there is none
  1.0 * l.optimizer_state_bytes
  / nullif(
    (
      SELECT w.optimizer_state_bytes
      FROM (
        SELECT
          u.run_id,
          u.optimizer_state_bytes,
          u.invocation_id = h.invocation_id AS same_invocation
        FROM live u
        WHERE u.scheme = 'none' AND u.comparison_group = h.comparison_group AND u.rank = h.rank AND u.name = h.name
      ) w
      ORDER BY w.same_invocation DESC, w.run_id DESC
      LIMIT 1
    ),
    0
  ) AS state_share
FROM held h
LEFT JOIN live l ON l.run_id = h.run_id AND l.rank = h.rank AND l.name = h.name
LEFT JOIN memory_point p ON p.run_id = h.run_id AND p.rank = h.rank AND p.pass = h.pass AND p.sequence = h.point;

-- Cost and savings of each optimizer_sharding run: step time, optimizer state per rank, and traffic between ranks.
CREATE VIEW sharding_time AS
WITH sharding AS (
  SELECT
    d.run_id,
    d.scheme,
    d.scheme_order,
    d.variant,
    d.setting,
    d.comparison_group,
    d.communicate,
    x.mean_ms,
    x.std_ms,
    x.optimizer_ms,
    x.communication_ms,
    x.median_ms
  FROM ddp_run d
  JOIN ddp_summary x ON x.run_id = d.run_id
  WHERE d.family = 'optimizer_sharding'
)
SELECT
  -- run
  d.run_id,
  -- as in ddp_run
  d.scheme,
  -- as in ddp_run
  d.scheme_order,
  -- as in ddp_run
  d.variant,
  -- as in ddp_run
  d.setting,
  -- mean step; the slowest rank determines each step
  d.mean_ms,
  -- standard deviation
  d.std_ms,
  -- phase optimizer, including its communication
  d.optimizer_ms,
  -- phase communication
  d.communication_ms,
  -- median step over that of the newest unsharded run in the same comparison group; NULL if there is none
  d.median_ms / n.median_ms AS unsharded_ratio,
  -- optimizer state of the rank with the most, as reported by the workload; NULL if not reported
  (SELECT max(v.value) FROM metric v WHERE v.run_id = d.run_id AND v.name = 'optimizer_state_bytes') AS state_bytes,
  -- peak allocated memory of any rank in the time pass; NULL on a CPU
  m.allocated_peak_bytes AS peak_bytes,
  -- collective calls per step, from the trace; NULL without a trace
  c.calls,
  -- bytes that a rank moves over its links per step, from the trace; NULL without a trace
  c.bus_bytes AS traffic_bytes
FROM sharding d
LEFT JOIN (
  SELECT
    comparison_group,
    communicate,
    max(run_id) AS run_id,
    median_ms
  FROM sharding
  WHERE scheme = 'none' AND median_ms > 0
  GROUP BY comparison_group, communicate
) n ON n.comparison_group = d.comparison_group AND n.communicate = d.communicate
LEFT JOIN run_memory m ON m.run_id = d.run_id
LEFT JOIN (
  SELECT
    run_id,
    sum(calls) AS calls,
    sum(bus_bytes) AS bus_bytes
  FROM collective_summary
  WHERE pass = 'trace'
  GROUP BY run_id
) c ON c.run_id = d.run_id;
