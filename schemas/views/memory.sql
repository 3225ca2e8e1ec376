-- SPDX-License-Identifier: Apache-2.0
-- How much memory was used, and where it ran out.

-- The runs that ran out of memory, with what was asked for. One row per rank that noticed; one row if only the run's status says so.
CREATE VIEW oom AS
SELECT r.run_id,           -- the run
       r.invocation_id,    -- its invocation
       r.workload,         -- its workload
       r.suite_case,       -- name of the case within the suite
       o.rank,             -- rank that asked; −1 if none in particular, NULL if nothing is known
       o.pass,             -- pass it happened in
       o.place,            -- host or device
       o.requested_bytes,  -- size asked for; NULL if unknown
       o.free_bytes,       -- free at that moment; NULL if unknown
       o.peak_bytes,       -- highest size in use before; NULL if unknown
       r.failed_phase,     -- phase or stage that the run failed in, or empty
       r.failed_step,      -- step that the run failed in; NULL outside a step
       r.detail            -- what the failing rank said
FROM run r
LEFT JOIN out_of_memory o ON o.run_id = r.run_id
WHERE r.status = 'oom' OR o.run_id IS NOT NULL;

-- Highest memory use of each worker.
CREATE VIEW worker_memory AS
SELECT k.run_id,                                        -- the run
       k.rank,                                          -- its rank
       k.pass,                                          -- its pass
       k.resident_peak_bytes,                           -- highest resident size of the process; NULL if not measured
       k.allocated_peak_bytes,                          -- highest size handed out by the caching allocator; NULL without one
       k.reserved_peak_bytes,                           -- highest size held by the caching allocator; NULL without one
       d.name AS device_name,                           -- model of its device; NULL if it never got that far
       d.memory_bytes AS device_memory_bytes,           -- total memory of that device
       1.0 * k.allocated_peak_bytes / k.reserved_peak_bytes AS allocated_share  -- of what the allocator held, at the two peaks
FROM rank k
LEFT JOIN device d ON d.device_id = k.device_id;
