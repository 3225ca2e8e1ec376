-- SPDX-License-Identifier: Apache-2.0
-- Single blocks and segments of the allocators, the code that allocated them, and what the driver reports.

-- Every memory block with its origin. Sort by allocated_bytes for the largest. Filter by run: the underlying table is
-- large.
CREATE VIEW memory_block AS
SELECT
  -- run
  a.run_id,
  -- rank that issued it
  a.rank,
  -- pass in which it was recorded
  a.pass,
  -- cuda or cpu
  a.device,
  -- as in allocation
  a.sequence,
  -- requested size
  a.requested_bytes,
  -- size allocated for it, after rounding
  a.allocated_bytes,
  -- as in memory_category
  a.category,
  -- step of the allocation; −1 outside of steps
  a.step,
  -- phase of the allocation; `other` outside of phases, `outside` outside of steps
  CASE WHEN p.text IS NOT NULL THEN p.text WHEN a.step < 0 THEN 'outside' ELSE 'other' END AS phase,
  -- scope path of the allocation without the indices of repeated modules; NULL if unknown
  q.module,
  -- scope path of the allocation; NULL if unknown
  s.text AS scope,
  -- innermost operator that requested it; NULL if there was none
  o.text AS operator,
  -- innermost stack frame in the workload's own code (not in LibTorch, CUDA, the C++ library or kymo): function, or
  -- library and offset; NULL if no stack was recorded or no such frame exists
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
  -- call stack, as in memory_stack; NULL if none was recorded
  a.stack,
  -- time of the allocation, host clock, relative to the start of the run
  a.alloc_ns,
  -- time of the free; NULL if still allocated at the end of the pass
  a.free_ns,
  -- when its memory became reusable: later than free_ns if another stream still used it; NULL if it did not
  a.reusable_ns,
  -- start address; above 2^63 as a negative number
  a.address,
  -- alloc_ns in milliseconds
  a.alloc_ns / 1e6 AS alloc_ms,
  -- time from allocation to free; NULL if still allocated at the end of the pass
  (a.free_ns - a.alloc_ns) / 1e6 AS lifetime_ms,
  -- step in which it was freed; NULL if it was not
  a.free_step,
  -- phase in which it was freed; NULL if it was not
  CASE
    WHEN a.free_ns IS NULL THEN NULL
    WHEN y.text IS NOT NULL THEN y.text
    WHEN a.free_step < 0 THEN 'outside'
    ELSE 'other'
  END AS free_phase,
  -- 1 if it was live at the peak of the measured steps
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

-- The segments that LibTorch's CUDA caching allocator reserved from the driver, and divides into blocks. Expandable
-- segments have a row for each part that was mapped.
CREATE VIEW memory_segment AS
SELECT
  -- run
  s.run_id,
  -- rank that owns it
  s.rank,
  -- pass in which it was recorded
  s.pass,
  -- start address; above 2^63 as a negative number
  s.address,
  -- size
  s.bytes,
  -- CUDA stream id that it serves; 0 is the default stream
  s.stream,
  -- when it was reserved, host clock, relative to the start of the run
  s.alloc_ns,
  -- when it was released to the driver; NULL if it was not
  s.free_ns
FROM segment s;

-- The call stacks of allocations as text. Filter by run, rank and pass.
CREATE VIEW memory_stack AS
SELECT
  -- run
  t.run_id,
  -- rank on which it was recorded
  t.rank,
  -- pass in which it was recorded
  t.pass,
  -- as in memory_block
  t.stack,
  -- function names, innermost first, with ' ← ' before each; library and offset without a symbol. Frames of kymo and of
  -- the C library are omitted, and those beyond the 24 innermost ones; NULL if none remains
  (
    SELECT group_concat(' ← ' || g.frame, '')
    FROM (
      SELECT coalesce(x.text, printf('%s+0x%x', f.module, f."offset")) AS frame
      FROM stack k
      JOIN stack_frame f ON f.run_id = k.run_id AND f.rank = k.rank AND f.pass = k.pass AND f.frame = k.frame
      LEFT JOIN string x ON x.string_id = f.function_id
      WHERE
        k.run_id = t.run_id
        AND k.rank = t.rank
        AND k.pass = t.pass
        AND k.stack = t.stack
        AND k.depth < 24
        AND f.module NOT IN ('kymo', '')
        AND f.module NOT LIKE 'libc.%'
        AND f.module NOT LIKE 'kymo_%'
      ORDER BY k.depth
    ) g
  ) AS frames
FROM stack t
WHERE t.depth = 0 AND t.pass NOT IN ('trace', 'ops');

-- Memory of a GPU as seen by the caching allocator and by the driver, and what accounts for the difference. The driver
-- peak is the sum before_cuda + context + reserved_at_driver_peak + other; the reserved peak is the sum requested +
-- rounding + unused.
CREATE VIEW allocator_vs_driver AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass in which it was recorded
  t.pass,
  -- peak of the bytes requested by live blocks
  t.requested_peak_bytes,
  -- peak of the bytes allocated
  t.allocated_peak_bytes,
  -- peak of the bytes allocated or still in use by a stream
  t.active_peak_bytes,
  -- peak of the bytes reserved from the driver
  t.reserved_peak_bytes,
  -- allocated peak − requested peak: rounding of block sizes
  t.allocated_peak_bytes - t.requested_peak_bytes AS rounding_bytes,
  -- reserved peak − allocated peak: fragmentation and cached blocks
  t.reserved_peak_bytes - t.allocated_peak_bytes AS unused_bytes,
  -- in use on the device before this process initialized CUDA, by the driver and other processes; NULL without a
  -- reading
  t.before_cuda_bytes,
  -- in use on the device after the context was created
  t.context_created_bytes,
  -- in use on the device after the workload was prepared
  t.prepared_bytes,
  -- in use on the device at the end of the pass
  t.end_bytes,
  -- highest reading, all processes together; NULL without readings
  t.driver_peak_bytes,
  -- highest reading for this process; NULL if the driver does not report it
  t.process_peak_bytes,
  -- size of the CUDA context
  t.context_created_bytes - t.before_cuda_bytes AS context_bytes,
  -- reserved by the allocator at the time of the highest reading
  t.reserved_then_bytes AS reserved_at_driver_peak_bytes,
  -- remainder: kernel code, memory that libraries (cuBLAS, cuDNN, NCCL) allocate themselves, and memory that other
  -- processes allocated since
  t.driver_peak_bytes - t.context_created_bytes - t.reserved_then_bytes AS other_bytes
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
    d.context_created_bytes,
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
      max(CASE stage WHEN 'before cuda' THEN used_bytes END) AS before_cuda_bytes,
      max(CASE stage WHEN 'context created' THEN used_bytes END) AS context_created_bytes,
      max(CASE stage WHEN 'prepared' THEN used_bytes END) AS prepared_bytes,
      max(CASE stage WHEN 'end' THEN used_bytes END) AS end_bytes,
      max(used_bytes) AS driver_peak_bytes,
      max(process_bytes) AS process_peak_bytes
    FROM device_memory
    GROUP BY run_id, rank, pass
  ) d ON d.run_id = p.run_id AND d.rank = p.rank AND d.pass = p.pass
  WHERE p.device = 'cuda' AND p.phase = 'run'
) t;
