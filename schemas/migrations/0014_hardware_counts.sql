-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 14: hardware counters.

-- What the hardware of a GPU counted in a measured step of the counters pass, in one of its phases, or in a scope
-- within a phase. The metrics of a step are those that the hardware counts at the same time, and the sets alternate
-- between steps, so a metric is counted in some of the steps only.
CREATE TABLE hardware_count (
  -- run the step belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that uses the GPU
  rank INTEGER NOT NULL,
  -- pass in which it was counted
  pass TEXT NOT NULL,
  -- position in the list
  sequence INTEGER NOT NULL,
  -- step number from 0, including warm-up steps
  step INTEGER NOT NULL,
  -- phase; NULL for the whole step
  phase_id INTEGER REFERENCES string,
  -- path of the scope; NULL for the whole phase
  scope_id INTEGER REFERENCES string,
  -- CUPTI's name of the metric
  name_id INTEGER NOT NULL REFERENCES string,
  -- how often the step entered the phase or scope
  calls INTEGER NOT NULL,
  -- sum over these
  value REAL NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;
