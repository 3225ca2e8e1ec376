-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 21: how fast the processor was while steps ran.

-- Time of a fixed loop of integer operations in registers, measured in the time pass before the first measured step,
-- after the last one, and between steps at least 4 ms apart: how fast the processor was. Only for runs of one rank on
-- a CPU, and not with timing free. There is no row if another thread of the process was running, or if the steps use a
-- processor for less than a tenth of their time.
CREATE TABLE reference_loop (
  -- run they belong to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank of the worker
  rank INTEGER NOT NULL,
  -- pass in which it was measured
  pass TEXT NOT NULL,
  -- the step before, warm-up steps included; -1 before the first
  step INTEGER NOT NULL,
  -- time of the loop
  duration_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, step)
) WITHOUT ROWID;
