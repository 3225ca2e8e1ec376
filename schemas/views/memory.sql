-- SPDX-License-Identifier: Apache-2.0
-- How much memory was used, and where it ran out.

-- The runs that ran out of memory, with what was asked for. One row per rank that noticed; one row if only the run's
-- status says so.
CREATE VIEW oom AS
SELECT
  -- the run
  r.run_id,
  -- its invocation
  r.invocation_id,
  -- its workload
  r.workload,
  -- name of the case within the suite
  r.suite_case,
  -- rank that asked; −1 if none in particular, NULL if nothing is known
  o.rank,
  -- pass it happened in
  o.pass,
  -- host or device
  o.place,
  -- size asked for; NULL if unknown
  o.requested_bytes,
  -- free at that moment; NULL if unknown
  o.free_bytes,
  -- highest size in use before; NULL if unknown
  o.peak_bytes,
  -- phase or stage that the run failed in, or empty
  r.failed_phase,
  -- step that the run failed in; NULL outside a step
  r.failed_step,
  -- what the failing rank said
  r.detail
FROM run r
LEFT JOIN out_of_memory o ON o.run_id = r.run_id
WHERE r.status = 'oom' OR o.run_id IS NOT NULL;

-- Highest memory use of each worker.
CREATE VIEW worker_memory AS
SELECT
  -- the run
  k.run_id,
  -- its rank
  k.rank,
  -- its pass
  k.pass,
  -- highest resident size of the process; NULL if not measured
  k.resident_peak_bytes,
  -- highest size handed out by the caching allocator; NULL without one
  k.allocated_peak_bytes,
  -- highest size held by the caching allocator; NULL without one
  k.reserved_peak_bytes,
  -- model of its device; NULL if it never got that far
  d.name AS device_name,
  -- total memory of that device
  d.memory_bytes AS device_memory_bytes,
  -- of what the allocator held, at the two peaks
  1.0 * k.allocated_peak_bytes / k.reserved_peak_bytes AS allocated_share
FROM rank k
LEFT JOIN device d ON d.device_id = k.device_id;
