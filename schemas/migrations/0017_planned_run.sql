-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 17: what an invocation was going to run.

-- A run that an invocation of `kymo run` or `kymo suite run` planned, written before its first run begins. The run with
-- the same invocation and sequence is the one that it became; the view unstarted_run has those without one.
CREATE TABLE planned_run (
  -- invocation that planned it
  invocation_id INTEGER NOT NULL REFERENCES invocation,
  -- 0, 1, 2 ... in the order of execution
  sequence INTEGER NOT NULL,
  -- name of the workload
  workload TEXT NOT NULL,
  -- JSON object of all parameters
  parameters TEXT NOT NULL,
  -- hash of workload, parameters, ranks, device kind, timing and sync
  case_key TEXT NOT NULL,
  -- hash of the case, its place in the suite and the measurement settings
  settings_key TEXT NOT NULL,
  -- hash of the case, how it is measured, the plugin and its libraries
  plan_key TEXT NOT NULL,
  -- suite name, or empty
  suite TEXT NOT NULL,
  -- case name within the suite, or empty
  suite_case TEXT NOT NULL,
  -- value of --label, or empty
  label TEXT NOT NULL,
  -- index of the repetition (--repeat), from 0
  repetition INTEGER NOT NULL,
  -- number of processes
  ranks INTEGER NOT NULL,
  -- cpu or cuda
  device_kind TEXT NOT NULL,
  -- number of warm-up steps
  warmup INTEGER NOT NULL,
  PRIMARY KEY (invocation_id, sequence)
) WITHOUT ROWID;
