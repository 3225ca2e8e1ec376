-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 8: one table of what GPUs executed.

-- A kernel, copy or memset executed by a GPU. It is attributed to the step, phase and scope in which it was launched,
-- whichever thread launched it.
CREATE TABLE gpu_activity (
  -- run the activity belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that launched it
  rank INTEGER NOT NULL,
  -- pass in which it ran
  pass TEXT NOT NULL,
  -- order by start time
  sequence INTEGER NOT NULL,
  -- name of the kernel, direction of the copy such as `memcpy host to device`, or `memset`
  name_id INTEGER NOT NULL,
  -- device start time, converted to the host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- device end time
  end_ns INTEGER NOT NULL,
  -- CUDA stream id
  stream INTEGER NOT NULL,
  -- CUPTI correlation id of the API call that launched it, or of the launch of its graph
  correlation_id INTEGER NOT NULL,
  -- step; −1 outside of steps
  step INTEGER NOT NULL,
  -- phase; NULL if unknown or outside of phases
  phase_id INTEGER,
  -- scope path; NULL if unknown or outside of scopes
  scope_id INTEGER,
  -- how it was attributed: launch (scope of the launching thread), autograd (forward scope of the backward node), graph
  -- (by its CUDA graph node at capture), fused (set of modules that a compiler fused), phase (no scope known) or none
  attribution TEXT NOT NULL,
  -- row of launch_config; NULL for copies and memsets alone
  launch_config INTEGER,
  -- CUDA graph node id; NULL for an eager launch
  graph_node INTEGER,
  -- sequence of the row in op of the operator that launched it; NULL if operators were not recorded
  op INTEGER,
  -- size of a copy or memset; NULL for kernels
  bytes INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- The rows of the three tables were numbered together.
INSERT INTO gpu_activity SELECT
  *,
  NULL
FROM kernel;
INSERT INTO gpu_activity
SELECT
  run_id,
  rank,
  pass,
  sequence,
  name_id,
  start_ns,
  end_ns,
  stream,
  correlation_id,
  step,
  phase_id,
  scope_id,
  attribution,
  NULL,
  graph_node,
  op,
  bytes
FROM (
  SELECT * FROM memcpy
  UNION ALL
  SELECT * FROM memset
);
DROP TABLE kernel;
DROP TABLE memcpy;
DROP TABLE memset;
