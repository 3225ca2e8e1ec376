-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 11: what the host did while nothing ran on a GPU.

-- Time in the measured steps of a pass during which nothing ran on the GPU, by what the host did in it: the thread that
-- launched the work that ended the gap. Steps are intervals on the host clock. Derived when the pass ends.
CREATE TABLE idle_total (
  -- run the steps belong to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that uses the GPU
  rank INTEGER NOT NULL,
  -- pass in which it was recorded
  pass TEXT NOT NULL,
  -- position in the list
  sequence INTEGER NOT NULL,
  -- phase that the host was in; NULL outside of phases
  phase_id INTEGER REFERENCES string,
  -- scope that was open on the thread; if none was, that of the work that ended the gap, or NULL
  scope_id INTEGER REFERENCES string,
  -- host code (also operators if these were not recorded), operator, compilation, or launch: the work that ended the
  -- gap had been launched
  activity TEXT NOT NULL,
  -- number of measured steps
  steps INTEGER NOT NULL,
  -- number of gaps that began here
  gaps INTEGER NOT NULL,
  -- duration
  total_ns INTEGER NOT NULL,
  -- part of it in gaps that began when a copy to the host ended
  after_copy_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- allocation.category_source: how the category was determined: tag (set by the workload), stack (allocated by LibTorch
-- for cuBLAS), lifetime (allocated in an operator of the forward pass and alive after it; or allocated and freed within
-- one operator or one optimizer phase), or empty
