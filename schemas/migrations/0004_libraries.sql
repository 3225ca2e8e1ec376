-- SPDX-License-Identifier: Apache-2.0
-- What a plugin is made of beside its own file, and what has grown in meaning.

-- run.mode: how steps were timed: sync (each by itself), hot (several between two events) or cold (each with the GPU's
-- caches flushed before it)
-- run.plan_key: hash of the case, how it is measured, the plugin and its libraries: what makes runs repetitions

-- A library of the plugin's folder that is loaded with it, as it was when the run was planned.
CREATE TABLE run_library (
  -- whose plugin
  run_id INTEGER NOT NULL REFERENCES run,
  -- file name, in the plugin's folder
  name TEXT NOT NULL,
  -- hash of the file
  sha256 TEXT NOT NULL,
  PRIMARY KEY (run_id, name)
) WITHOUT ROWID;
