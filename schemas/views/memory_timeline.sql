-- SPDX-License-Identifier: Apache-2.0
-- Results of the memory pass: timeline, peaks by category, and individual blocks, of LibTorch's CUDA caching allocator
-- or CPU allocator.

-- The categories of memory, with their titles in reports.
CREATE VIEW memory_category AS
SELECT
  -- name, as in the other views
  column1 AS category,
  -- title in reports
  column2 AS title,
  -- sort order: 0, 1, 2 ...
  column3 AS category_order
FROM (
  VALUES /* KYMO_MEMORY_CATEGORIES */ ('unknown', 'unknown', 0)
);

-- The points of the memory timeline.
CREATE VIEW memory_timeline AS
SELECT
  -- run
  m.run_id,
  -- rank
  m.rank,
  -- pass in which it was recorded
  m.pass,
  -- cuda or cpu
  m.device,
  -- position among the memory events
  m.sequence,
  -- host clock, relative to the start of the run
  m.time_ns,
  -- the same
  m.time_ns / 1e6 AS time_ms,
  -- step; −1 outside of steps
  m.step,
  -- phase; `other` outside of phases, `outside` outside of steps
  CASE WHEN p.text IS NOT NULL THEN p.text WHEN m.step < 0 THEN 'outside' ELSE 'other' END AS phase,
  -- bytes requested by live blocks
  m.requested_bytes,
  -- bytes allocated
  m.allocated_bytes,
  -- bytes allocated, or freed but still in use by a stream
  m.active_bytes,
  -- bytes reserved from the driver
  m.reserved_bytes
FROM memory_point m
LEFT JOIN string p ON p.string_id = m.phase_id;

-- The live memory of each category after each memory event that changes it. Filter by run: the underlying table is
-- large.
CREATE VIEW memory_timeline_by_category AS
SELECT
  -- run
  c.run_id,
  -- rank
  c.rank,
  -- pass in which it was recorded
  c.pass,
  -- cuda or cpu
  c.device,
  -- position among the memory events, as in memory_timeline
  c.sequence,
  -- host clock, relative to the start of the run
  c.time_ns,
  -- as in memory_category
  c.category,
  -- allocated bytes of its live blocks
  sum(c.bytes) OVER (PARTITION BY c.run_id, c.rank, c.pass, c.device, c.category ORDER BY c.sequence) AS bytes
FROM (
  SELECT
    run_id,
    rank,
    pass,
    device,
    sequence,
    alloc_ns AS time_ns,
    category,
    allocated_bytes AS bytes
  FROM allocation
  UNION ALL
  SELECT
    run_id,
    rank,
    pass,
    device,
    free_sequence,
    free_ns,
    category,
    -allocated_bytes
  FROM allocation
  WHERE free_sequence IS NOT NULL
) c;

-- The interval of the measured steps of the memory pass, for ranks with points of the memory timeline within steps.
CREATE VIEW memory_steps AS
SELECT
  -- run
  k.run_id,
  -- rank
  k.rank,
  -- start of the first measured step, host clock, relative to the start of the run; NULL without a measured step
  (
    SELECT min(s.start_ns)
    FROM _measured_step s
    WHERE s.run_id = k.run_id AND s.rank = k.rank AND s.pass = k.pass
  ) AS start_ns,
  -- end of the last one
  (
    SELECT max(s.start_ns + s.host_ns)
    FROM _measured_step s
    WHERE s.run_id = k.run_id AND s.rank = k.rank AND s.pass = k.pass
  ) AS end_ns
FROM rank k
WHERE
  k.pass = 'memory'
  AND EXISTS (
    SELECT 1
    FROM memory_point p
    WHERE p.run_id = k.run_id AND p.rank = k.rank AND p.pass = k.pass AND p.step >= 0
  );

-- Peaks of the memory counters within each phase of the measured steps, the whole step (`step`), warm-up steps
-- (`warm-up`), the time before and after the steps (`outside`) and the whole pass (`run`). memory_by_category has what
-- the allocated peaks consist of.
CREATE VIEW memory_peak AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass in which it was recorded
  t.pass,
  -- cuda or cpu
  t.device,
  -- phase or one of the names above; `other` is the time of a step outside of phases
  t.phase,
  -- maximum of the counter
  t.peak_requested_bytes,
  -- maximum of the counter
  t.peak_allocated_bytes,
  -- maximum of the counter
  t.peak_active_bytes,
  -- maximum of the counter
  t.peak_reserved_bytes,
  -- step of the allocated peak, the first one if tied
  t.step AS peak_step,
  -- phase of the allocated peak; `step` if it is that of a whole step
  t.own_phase AS peak_phase,
  -- time of the allocated peak, host clock, relative to the start of the run
  t.peak_ns,
  -- category with the most memory at the allocated peak; NULL if nothing was allocated
  (
    SELECT c.category
    FROM memory_phase_category c
    LEFT JOIN memory_category k ON k.category = c.category
    WHERE
      c.run_id = t.run_id
      AND c.rank = t.rank
      AND c.pass = t.pass
      AND c.device = t.device
      AND c.step = t.step
      AND c.phase = t.own_phase
    ORDER BY c.bytes DESC, k.category_order
    LIMIT 1
  ) AS largest_category,
  -- its allocated bytes
  (
    SELECT max(c.bytes)
    FROM memory_phase_category c
    WHERE
      c.run_id = t.run_id
      AND c.rank = t.rank
      AND c.pass = t.pass
      AND c.device = t.device
      AND c.step = t.step
      AND c.phase = t.own_phase
  ) AS largest_category_bytes
FROM (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY run_id, rank, pass, device, phase
      ORDER BY allocated_bytes DESC, step, peak_ns, own_phase = 'step'
    ) AS position
  FROM (
    SELECT
      *,
      max(requested_bytes) OVER (PARTITION BY run_id, rank, pass, device, phase) AS peak_requested_bytes,
      max(allocated_bytes) OVER (PARTITION BY run_id, rank, pass, device, phase) AS peak_allocated_bytes,
      max(active_bytes) OVER (PARTITION BY run_id, rank, pass, device, phase) AS peak_active_bytes,
      max(reserved_bytes) OVER (PARTITION BY run_id, rank, pass, device, phase) AS peak_reserved_bytes
    FROM (
      SELECT
        m.run_id,
        m.rank,
        m.pass,
        m.device,
        m.step,
        m.phase AS own_phase,
        m.peak_ns,
        m.peak_requested_bytes AS requested_bytes,
        m.peak_allocated_bytes AS allocated_bytes,
        m.peak_active_bytes AS active_bytes,
        m.peak_reserved_bytes AS reserved_bytes,
        CASE
          WHEN b.whole = 1 THEN 'run'
          WHEN m.step < 0 THEN 'outside'
          WHEN m.warmup = 1 THEN 'warm-up'
          ELSE m.phase
        END AS phase
      FROM memory_phase m
      CROSS JOIN (
        SELECT 0 AS whole
        UNION ALL
        SELECT 1
      ) b
    )
  )
) t
WHERE t.position = 1;

-- Live memory at each of those peaks, one row per category.
CREATE VIEW memory_by_category AS
SELECT
  -- run
  p.run_id,
  -- rank
  p.rank,
  -- pass in which it was recorded
  p.pass,
  -- cuda or cpu
  p.device,
  -- as in memory_peak
  p.phase,
  -- as in memory_peak
  p.peak_allocated_bytes,
  -- as in memory_peak
  p.peak_ns,
  -- as in memory_category
  k.category,
  -- allocated sizes of its live blocks
  coalesce(c.bytes, 0) AS bytes,
  -- share of the peak
  1.0 * coalesce(c.bytes, 0) / nullif(p.peak_allocated_bytes, 0) AS share,
  -- as in memory_category
  k.title,
  -- as in memory_category
  k.category_order
FROM memory_peak p
CROSS JOIN memory_category k
LEFT JOIN memory_phase_category c
  ON c.run_id = p.run_id
  AND c.rank = p.rank
  AND c.pass = p.pass
  AND c.device = p.device
  AND c.step = p.peak_step
  AND c.phase = p.peak_phase
  AND c.category = k.category;
