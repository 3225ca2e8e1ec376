-- SPDX-License-Identifier: Apache-2.0
-- caption: What precedes the first step without warm-up, stage by stage.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column stage: title="stage"
-- column begin_ms: title="begins at", unit="ms", format="significant", digits=4
-- column lasted_ms: title="takes", unit="ms", format="significant", digits=4
-- note: Each of these runs has a process of its own, and time counts from when that process began to work. Rank 0 is
--   shown.
-- empty: The case `timing-warmup` of the suite `cs336` has no finished run without warm-up that recorded its stages.
SELECT
  m.size,
  m.context,
  CASE w.stage
    WHEN 'assigned' THEN 'connect and be assigned'
    WHEN 'plugin loaded' THEN 'load the plugin and its libraries'
    WHEN 'collectors armed'
      THEN
        CASE r.device_kind WHEN 'cuda' THEN 'load and arm collectors, create the CUDA context' ELSE 'arm collectors' END
    WHEN 'created' THEN 'create the workload'
    WHEN 'prepared' THEN 'prepare the workload'
    WHEN 'first step' THEN 'get to the first step'
    ELSE w.stage
  END AS stage,
  w.begin_ms,
  w.lasted_ms
FROM selected_run s
JOIN run r
  ON r.run_id = s.run_id
  AND r.suite = 'cs336'
  AND r.suite_case IN ('warmup', 'timing-warmup')
  AND r.warmup = 0
  AND r.status = 'ok'
JOIN transformer_run m ON m.run_id = r.run_id
JOIN worker_stage w ON w.run_id = r.run_id AND w.pass = 'time' AND w.rank = 0
ORDER BY m.size_order, m.context, r.run_id, w.place
