-- SPDX-License-Identifier: Apache-2.0
-- caption: Startup stages before the first step without warm-up.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column stage: title="stage"
-- column start_ms: title="start", unit="ms", format="significant", digits=4
-- column duration_ms: title="duration", unit="ms", format="significant", digits=4
-- note: Each run uses its own process; times are relative to its start. Shows rank 0.
-- empty: The case `timing-warmup` of the suite `cs336` has no completed run without warm-up with recorded stages.
SELECT
  c.size,
  c.context,
  CASE w.stage
    WHEN 'assigned' THEN 'start, connect and receive the assignment'
    WHEN 'plugin loaded' THEN 'load the plugin and its libraries'
    WHEN 'collectors armed'
      THEN
        CASE c.device_kind WHEN 'cuda' THEN 'load and arm collectors, create the CUDA context' ELSE 'arm collectors' END
    WHEN 'created' THEN 'create the workload'
    WHEN 'prepared' THEN 'prepare the workload'
    WHEN 'first step' THEN 'set up the first step'
    ELSE w.stage
  END AS stage,
  w.start_ms,
  w.duration_ms
FROM cold c
JOIN worker_stage w ON w.run_id = c.run_id AND w.pass = 'time' AND w.rank = 0
ORDER BY c.size_order, c.context, c.run_id, w.stage_order
