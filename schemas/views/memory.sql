-- SPDX-License-Identifier: Apache-2.0
-- Memory use and out-of-memory errors.

-- Runs that ran out of memory, with the failed request. One row per rank that reported it; one row if only the run's
-- status shows it.
CREATE VIEW oom AS
SELECT
  -- run
  r.run_id,
  -- invocation
  r.invocation_id,
  -- workload
  r.workload,
  -- name of the case within the suite
  r.suite_case,
  -- rank that requested the memory; −1 if it cannot be attributed to one rank, NULL if unknown
  o.rank,
  -- pass in which it occurred
  o.pass,
  -- host or device
  o.location,
  -- requested size; NULL if unknown
  o.requested_bytes,
  -- free memory at that time; NULL if unknown
  o.free_bytes,
  -- peak memory in use before; NULL if unknown
  o.peak_bytes,
  -- phase or stage in which the run failed, or empty
  r.failed_phase,
  -- step in which the run failed; NULL outside a step
  r.failed_step,
  -- error message of the failing rank
  r.detail
FROM run r
LEFT JOIN out_of_memory o ON o.run_id = r.run_id
WHERE r.status = 'oom' OR o.run_id IS NOT NULL;

-- Peak memory use of each worker.
CREATE VIEW worker_memory AS
SELECT
  -- run
  k.run_id,
  -- rank
  k.rank,
  -- pass
  k.pass,
  -- peak resident set size of the process; NULL if not measured
  k.resident_peak_bytes,
  -- peak memory allocated by the caching allocator; NULL without one
  k.allocated_peak_bytes,
  -- peak memory reserved by the caching allocator; NULL without one
  k.reserved_peak_bytes,
  -- model name of its device; NULL if the worker did not get that far
  d.name AS device_name,
  -- total memory of that device
  d.memory_bytes AS device_memory_bytes,
  -- allocated peak over reserved peak
  1.0 * k.allocated_peak_bytes / k.reserved_peak_bytes AS allocated_share
FROM rank k
LEFT JOIN device d ON d.device_id = k.device_id;
