-- SPDX-License-Identifier: Apache-2.0
-- Startup: the time before the first step, and what the first steps include.

-- The stages of each worker up to its first step, from its own markers: assigned (process start, connection and
-- assignment), plugin loaded (with its libraries), collectors armed (on a GPU including CUDA context creation),
-- created, prepared, and first step (the time up to its timed region).
CREATE VIEW worker_stage AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass
  t.pass,
  -- sort order of the stages, from 0
  t.stage_order,
  -- stage name
  t.stage,
  -- start, relative to the start of the process or, for a reused worker, the assignment
  t.start_ns / 1e6 AS start_ms,
  -- duration
  (t.end_ns - t.start_ns) / 1e6 AS duration_ms
FROM (
  SELECT
    run_id,
    rank,
    pass,
    row_number() OVER (PARTITION BY run_id, rank, pass ORDER BY end_ns, sequence) - 1 AS stage_order,
    stage,
    lag(end_ns, 1, 0) OVER (PARTITION BY run_id, rank, pass ORDER BY end_ns, sequence) AS start_ns,
    end_ns
  FROM (
    SELECT
      run_id,
      rank,
      pass,
      min(sequence) AS sequence,
      substr(name, 9) AS stage,
      min(time_ns) AS end_ns
    FROM mark
    WHERE
      name IN (
        'worker: assigned', 'worker: plugin loaded', 'worker: collectors armed', 'worker: created', 'worker: prepared'
      )
    GROUP BY run_id, rank, pass, name
    UNION ALL
    SELECT
      s.run_id,
      s.rank,
      s.pass,
      9223372036854775807,
      'first step',
      s.start_ns
    FROM sample s
    WHERE
      s.phase = 'step'
      AND s.step = 0
      AND EXISTS (
        SELECT 1
        FROM mark m
        WHERE m.run_id = s.run_id AND m.rank = s.rank AND m.pass = s.pass AND m.name = 'worker: prepared'
      )
  )
) t;

-- Steps 0 to 4 of each run without warm-up: excess over the median of the second half of the run's steps, with recorded
-- causes. All times are host times.
CREATE VIEW first_step_content AS
WITH early AS (
  SELECT
    s.run_id,
    s.step,
    s.host_ns,
    count(*) OVER (PARTITION BY s.run_id) AS steps
  FROM run r
  JOIN step_duration s ON s.run_id = r.run_id AND s.phase = 'step'
  WHERE r.warmup = 0
),
late AS (
  SELECT
    run_id,
    host_ns,
    row_number() OVER (PARTITION BY run_id ORDER BY host_ns) AS position,
    count(*) OVER (PARTITION BY run_id) AS steps
  FROM early
  WHERE 2 * step >= steps
),
later AS (
  SELECT
    run_id,
    avg(host_ns) AS median_ns
  FROM late
  WHERE position IN ((steps + 1) / 2, (steps + 2) / 2)
  GROUP BY run_id
),
growth AS (
  SELECT
    run_id,
    step,
    max(requests) AS requests,
    max(reserved_bytes) AS reserved_bytes
  FROM (
    SELECT
      run_id,
      rank,
      step,
      device_allocations - lag(device_allocations) OVER (PARTITION BY run_id, rank ORDER BY step) AS requests,
      reserved_bytes - lag(reserved_bytes) OVER (PARTITION BY run_id, rank ORDER BY step) AS reserved_bytes
    FROM memory_counter
    WHERE pass = 'time'
  )
  GROUP BY run_id, step
),
clock AS (
  SELECT
    run_id,
    step,
    min(sm_clock_mhz) AS mhz
  FROM gpu_sample
  WHERE pass = 'time'
  GROUP BY run_id, step
),
stage AS (
  SELECT
    run_id,
    max(CASE stage WHEN 'plugin loaded' THEN duration_ms END) AS load_ms,
    max(CASE stage WHEN 'collectors armed' THEN duration_ms END) AS arm_ms,
    max(CASE stage WHEN 'created' THEN duration_ms END) AS create_ms,
    max(CASE stage WHEN 'prepared' THEN duration_ms END) AS prepare_ms
  FROM worker_stage
  WHERE pass = 'time'
  GROUP BY run_id
)
SELECT
  -- run
  t.run_id,
  -- 0 to 4
  t.step,
  -- time of the step
  t.host_ms,
  -- median of the second half of the run's steps; NULL for a run with one step
  t.later_median_ms,
  -- time above the median
  t.host_ms - t.later_median_ms AS excess_ms,
  -- allocations that the allocator requested from the driver in or directly before the step (a count, not a time); NULL
  -- without a reading
  t.device_allocations,
  -- growth of the reserved memory in the step; NULL without a reading
  t.reserved_growth_bytes,
  -- lowest SM clock of any rank directly after the step; NULL without a reading
  t.sm_clock_mhz,
  -- median SM clock of the run; NULL without readings
  t.median_sm_clock_mhz,
  -- upper bound on the effect of a lower SM clock, assuming that the step time scales with the clock; NULL without a
  -- reading
  t.clock_effect_ms,
  -- excess without a recorded cause: includes driver allocations, and the first use of kernels and libraries (loading,
  -- handles, algorithm selection)
  t.host_ms - t.later_median_ms - coalesce(t.clock_effect_ms, 0) AS unexplained_ms,
  -- stage before step 0: load the plugin and its libraries; NULL for other steps
  t.load_ms,
  -- stage before step 0: arm the collectors, on a GPU including CUDA context creation; NULL for other steps
  t.arm_ms,
  -- stage before step 0: create the workload; NULL for other steps
  t.create_ms,
  -- stage before step 0: prepare the workload; NULL for other steps
  t.prepare_ms
FROM (
  SELECT
    e.run_id,
    e.step,
    e.host_ns / 1e6 AS host_ms,
    l.median_ns / 1e6 AS later_median_ms,
    g.requests AS device_allocations,
    g.reserved_bytes AS reserved_growth_bytes,
    c.mhz AS sm_clock_mhz,
    d.sm_clock_mhz AS median_sm_clock_mhz,
    l.median_ns / 1e6 * (max(1.0 * d.sm_clock_mhz / nullif(c.mhz, 0), 1) - 1) AS clock_effect_ms,
    CASE e.step WHEN 0 THEN a.load_ms END AS load_ms,
    CASE e.step WHEN 0 THEN a.arm_ms END AS arm_ms,
    CASE e.step WHEN 0 THEN a.create_ms END AS create_ms,
    CASE e.step WHEN 0 THEN a.prepare_ms END AS prepare_ms
  FROM early e
  LEFT JOIN later l ON l.run_id = e.run_id
  LEFT JOIN growth g ON g.run_id = e.run_id AND g.step = e.step
  LEFT JOIN clock c ON c.run_id = e.run_id AND c.step = e.step
  LEFT JOIN device_clock d ON d.run_id = e.run_id
  LEFT JOIN stage a ON a.run_id = e.run_id
  WHERE e.step < 5
) t;
