-- SPDX-License-Identifier: Apache-2.0
-- What the memory pass saw: curves, peaks, what they are made of, and the blocks behind them. On the GPU of LibTorch's
-- caching allocator, on the CPU of LibTorch's allocator.

-- The points of the memory curves.
CREATE VIEW memory_timeline AS
SELECT
  -- the run
  m.run_id,
  -- its rank
  m.rank,
  -- pass it was observed in
  m.pass,
  -- cuda or cpu
  m.device,
  -- place among the memory events
  m.sequence,
  -- host clock, after the start of the run
  m.time_ns / 1e6 AS time_ms,
  -- step; −1 outside of steps
  m.step,
  -- phase; `other` outside of phases, `outside` outside of steps
  CASE WHEN p.text IS NOT NULL THEN p.text WHEN m.step < 0 THEN 'outside' ELSE 'other' END AS phase,
  -- asked for by blocks in use
  m.requested_bytes,
  -- handed out
  m.allocated_bytes,
  -- handed out, or given back but still used by a stream
  m.active_bytes,
  -- held of the driver
  m.reserved_bytes,
  -- allocated sizes of the live blocks of that category
  m.parameter_bytes,
  -- the same
  m.gradient_bytes,
  -- the same
  m.optimizer_state_bytes,
  -- the same
  m.activation_bytes,
  -- the same
  m.workspace_bytes,
  -- the same
  m.input_bytes,
  -- the same
  m.unknown_bytes
FROM memory_point m
LEFT JOIN string p ON p.string_id = m.phase_id;

-- Peaks of the memory curves within each phase of the measured steps, within the whole step (`step`), within warm-up
-- steps (`warm-up`), before and after the steps (`outside`), and of the whole pass (`run`); with what was alive at the
-- highest allocated point.
CREATE VIEW memory_peak AS
SELECT
  -- the run
  t.run_id,
  -- its rank
  t.rank,
  -- pass it was observed in
  t.pass,
  -- cuda or cpu
  t.device,
  -- phase or one of the words above; `other` is what lies outside of phases in a step
  t.phase,
  -- highest value of that curve
  t.peak_requested_bytes,
  -- the same
  t.peak_allocated_bytes,
  -- the same
  t.peak_active_bytes,
  -- the same
  t.peak_reserved_bytes,
  -- step of the highest allocated point, the first one if there are several
  t.step AS peak_step,
  -- when it was, on the host clock after the start of the run
  t.peak_ns,
  -- alive at that moment, allocated sizes
  t.parameter_bytes,
  -- the same
  t.gradient_bytes,
  -- the same
  t.optimizer_state_bytes,
  -- the same
  t.activation_bytes,
  -- the same
  t.workspace_bytes,
  -- the same
  t.input_bytes,
  -- the same
  t.unknown_bytes,
  -- category with most of it; NULL if nothing was alive
  CASE max(
    t.parameter_bytes,
    t.gradient_bytes,
    t.optimizer_state_bytes,
    t.activation_bytes,
    t.workspace_bytes,
    t.input_bytes,
    t.unknown_bytes
  )
    WHEN 0 THEN NULL
    WHEN t.parameter_bytes THEN 'parameter'
    WHEN t.gradient_bytes THEN 'gradient'
    WHEN t.optimizer_state_bytes THEN 'optimizer_state'
    WHEN t.activation_bytes THEN 'activation'
    WHEN t.workspace_bytes THEN 'workspace'
    WHEN t.input_bytes THEN 'input'
    ELSE 'unknown'
  END AS largest_category
FROM (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY run_id, rank, pass, device, phase
      ORDER BY allocated_bytes DESC, step, peak_ns
    ) AS place
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
        m.peak_ns,
        m.peak_requested_bytes AS requested_bytes,
        m.peak_allocated_bytes AS allocated_bytes,
        m.peak_active_bytes AS active_bytes,
        m.peak_reserved_bytes AS reserved_bytes,
        m.parameter_bytes,
        m.gradient_bytes,
        m.optimizer_state_bytes,
        m.activation_bytes,
        m.workspace_bytes,
        m.input_bytes,
        m.unknown_bytes,
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
WHERE t.place = 1;

-- What was alive at each of those peaks, one row per category.
CREATE VIEW memory_by_category AS
SELECT
  -- the run
  p.run_id,
  -- its rank
  p.rank,
  -- pass it was observed in
  p.pass,
  -- cuda or cpu
  p.device,
  -- as in memory_peak
  p.phase,
  -- parameter, gradient, optimizer_state, activation, workspace, input or unknown
  c.category,
  -- allocated sizes of its live blocks
  CASE c.place
    WHEN 0 THEN p.parameter_bytes
    WHEN 1 THEN p.gradient_bytes
    WHEN 2 THEN p.optimizer_state_bytes
    WHEN 3 THEN p.activation_bytes
    WHEN 4 THEN p.workspace_bytes
    WHEN 5 THEN p.input_bytes
    ELSE p.unknown_bytes
  END AS bytes,
  -- of the peak
  1.0
  * CASE c.place
    WHEN 0 THEN p.parameter_bytes
    WHEN 1 THEN p.gradient_bytes
    WHEN 2 THEN p.optimizer_state_bytes
    WHEN 3 THEN p.activation_bytes
    WHEN 4 THEN p.workspace_bytes
    WHEN 5 THEN p.input_bytes
    ELSE p.unknown_bytes
  END
  / nullif(p.peak_allocated_bytes, 0) AS share,
  -- 0, 1, 2 ... in the order of the categories above
  c.place
FROM memory_peak p
CROSS JOIN (
  SELECT
    0 AS place,
    'parameter' AS category
  UNION ALL
  SELECT
    1,
    'gradient'
  UNION ALL
  SELECT
    2,
    'optimizer_state'
  UNION ALL
  SELECT
    3,
    'activation'
  UNION ALL
  SELECT
    4,
    'workspace'
  UNION ALL
  SELECT
    5,
    'input'
  UNION ALL
  SELECT
    6,
    'unknown'
) c;

-- Every block of memory with its origin; sort by allocated_bytes for the largest. Ask for one run: the table behind it
-- is long.
CREATE VIEW memory_largest AS
SELECT
  -- the run
  a.run_id,
  -- rank that asked for it
  a.rank,
  -- pass it was observed in
  a.pass,
  -- cuda or cpu
  a.device,
  -- as in allocation
  a.sequence,
  -- size that was asked for
  a.requested_bytes,
  -- size that the allocator took for it
  a.allocated_bytes,
  -- parameter, gradient, optimizer_state, activation, workspace, input or unknown
  a.category,
  -- step of its birth; −1 outside of steps
  a.step,
  -- phase of its birth; `other` outside of phases, `outside` outside of steps
  CASE WHEN p.text IS NOT NULL THEN p.text WHEN a.step < 0 THEN 'outside' ELSE 'other' END AS phase,
  -- path of scopes of its birth without the numbers of repeated parts; NULL if none is known
  q.module,
  -- the same with them
  s.text AS scope,
  -- innermost operator that asked for it; NULL if there was none
  o.text AS operator,
  -- innermost frame of the workload's own code (not of LibTorch, CUDA, the C++ library or kymo): function, or library
  -- and address; NULL if no stack was taken or has none
  (
    SELECT coalesce(x.text, printf('%s+0x%x', f.module, f."offset"))
    FROM stack k
    JOIN stack_frame f ON f.run_id = k.run_id AND f.rank = k.rank AND f.pass = k.pass AND f.frame = k.frame
    LEFT JOIN string x ON x.string_id = f.function_id
    WHERE
      k.run_id = a.run_id
      AND k.rank = a.rank
      AND k.pass = a.pass
      AND k.stack = a.stack
      AND NOT (
        f.module LIKE 'libtorch%'
        OR f.module LIKE 'libc10%'
        OR f.module LIKE 'libc.%'
        OR f.module LIKE 'libstdc++%'
        OR f.module LIKE 'libcu%'
        OR f.module LIKE 'libgomp%'
        OR f.module LIKE 'libnccl%'
        OR f.module LIKE 'ld-%'
        OR f.module LIKE 'kymo_%'
        OR f.module IN ('kymo', '')
      )
      AND NOT (
        coalesce(x.text, '') LIKE 'at::%'
        OR coalesce(x.text, '') LIKE 'c10::%'
        OR coalesce(x.text, '') LIKE 'torch::%'
        OR coalesce(x.text, '') LIKE 'std::%'
        OR coalesce(x.text, '') LIKE '%kymo::libtorch::%'
      )
    ORDER BY k.depth
    LIMIT 1
  ) AS origin,
  -- birth, host clock, after the start of the run
  a.alloc_ns / 1e6 AS alloc_ms,
  -- from then until it was given back; NULL if it was alive at the end of the pass
  (a.free_ns - a.alloc_ns) / 1e6 AS lifetime_ms,
  -- step it was given back in; NULL if it was not
  a.free_step,
  -- phase it was given back in; NULL if it was not
  CASE
    WHEN a.free_ns IS NULL THEN NULL
    WHEN y.text IS NOT NULL THEN y.text
    WHEN a.free_step < 0 THEN 'outside'
    ELSE 'other'
  END AS free_phase,
  -- 1 if it was alive at the highest point of the measured steps
  coalesce(a.alloc_ns <= h.peak_ns AND coalesce(a.free_ns > h.peak_ns, 1), 0) AS at_peak
FROM allocation a
LEFT JOIN string p ON p.string_id = a.phase_id
LEFT JOIN string y ON y.string_id = a.free_phase_id
LEFT JOIN string s ON s.string_id = a.scope_id
LEFT JOIN string o ON o.string_id = a.op_id
LEFT JOIN scope_path q ON q.scope_id = a.scope_id
LEFT JOIN memory_phase h
  ON h.run_id = a.run_id
  AND h.rank = a.rank
  AND h.pass = a.pass
  AND h.device = a.device
  AND h.phase = 'step'
  AND h.step = (
    SELECT m.step
    FROM memory_phase m
    WHERE
      m.run_id = a.run_id
      AND m.rank = a.rank
      AND m.pass = a.pass
      AND m.device = a.device
      AND m.phase = 'step'
      AND m.warmup = 0
      AND m.step >= 0
    ORDER BY m.peak_allocated_bytes DESC, m.step
    LIMIT 1
  );

-- What the caching allocator says of the memory of a GPU against what the driver says, and what the difference is made
-- of. The parts of the highest reading add up: before_cuda + context + reserved + rest = driver_peak; those of the
-- allocator too: requested + rounding + unused = reserved_peak.
CREATE VIEW allocator_against_driver AS
SELECT
  -- the run
  t.run_id,
  -- its rank
  t.rank,
  -- pass it was observed in
  t.pass,
  -- highest sum of what live blocks asked for
  t.requested_peak_bytes,
  -- highest sum handed out
  t.allocated_peak_bytes,
  -- highest sum handed out or still used by a stream
  t.active_peak_bytes,
  -- highest sum held of the driver
  t.reserved_peak_bytes,
  -- allocated less requested peak: sizes are rounded up
  t.allocated_peak_bytes - t.requested_peak_bytes AS rounding_bytes,
  -- reserved less allocated peak: fragmentation, and blocks kept for later
  t.reserved_peak_bytes - t.allocated_peak_bytes AS unused_bytes,
  -- in use on the device before this process used CUDA: by the driver and others; NULL without a reading
  t.before_cuda_bytes,
  -- the same once the context was made
  t.context_made_bytes,
  -- the same once the workload was prepared
  t.prepared_bytes,
  -- the same at the end of the pass
  t.end_bytes,
  -- highest reading, all processes together; NULL without readings
  t.driver_peak_bytes,
  -- highest reading of this process; NULL if the driver does not tell
  t.process_peak_bytes,
  -- what the context took
  t.context_made_bytes - t.before_cuda_bytes AS context_bytes,
  -- held by the allocator at the highest reading
  t.reserved_then_bytes AS reserved_at_driver_peak_bytes,
  -- none of these: kernels' code, libraries (cuBLAS, cuDNN, NCCL) with memory of their own, and what other processes
  -- took since
  t.driver_peak_bytes - t.context_made_bytes - t.reserved_then_bytes AS rest_bytes
FROM (
  SELECT
    p.run_id,
    p.rank,
    p.pass,
    p.peak_requested_bytes AS requested_peak_bytes,
    p.peak_allocated_bytes AS allocated_peak_bytes,
    p.peak_active_bytes AS active_peak_bytes,
    p.peak_reserved_bytes AS reserved_peak_bytes,
    d.before_cuda_bytes,
    d.context_made_bytes,
    d.prepared_bytes,
    d.end_bytes,
    d.driver_peak_bytes,
    d.process_peak_bytes,
    CASE
      WHEN d.driver_peak_bytes IS NOT NULL
        THEN
          coalesce(
            (
              SELECT m.reserved_bytes
              FROM memory_point m
              WHERE
                m.run_id = p.run_id
                AND m.rank = p.rank
                AND m.pass = p.pass
                AND m.device = 'cuda'
                AND m.time_ns <= (
                  SELECT v.time_ns
                  FROM device_memory v
                  WHERE v.run_id = p.run_id AND v.rank = p.rank AND v.pass = p.pass
                  ORDER BY v.used_bytes DESC, v.sequence DESC
                  LIMIT 1
                )
              ORDER BY m.sequence DESC
              LIMIT 1
            ),
            0
          )
    END AS reserved_then_bytes
  FROM memory_peak p
  LEFT JOIN (
    SELECT
      run_id,
      rank,
      pass,
      max(CASE moment WHEN 'before cuda' THEN used_bytes END) AS before_cuda_bytes,
      max(CASE moment WHEN 'context made' THEN used_bytes END) AS context_made_bytes,
      max(CASE moment WHEN 'prepared' THEN used_bytes END) AS prepared_bytes,
      max(CASE moment WHEN 'end' THEN used_bytes END) AS end_bytes,
      max(used_bytes) AS driver_peak_bytes,
      max(process_bytes) AS process_peak_bytes
    FROM device_memory
    GROUP BY run_id, rank, pass
  ) d ON d.run_id = p.run_id AND d.rank = p.rank AND d.pass = p.pass
  WHERE p.device = 'cuda' AND p.phase = 'run'
) t;
