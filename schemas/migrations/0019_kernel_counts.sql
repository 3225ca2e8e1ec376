-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 19: hardware counters by kernel.

-- What the hardware of a GPU counted in one kernel of a measured step of the counters pass, with --counter-ranges
-- kernel. Steps that launched the same kernels in the same order are added up; each metric was counted in some of them.
CREATE TABLE kernel_count (
  -- run the step belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that uses the GPU
  rank INTEGER NOT NULL,
  -- pass in which it was counted
  pass TEXT NOT NULL,
  -- position in the list
  sequence INTEGER NOT NULL,
  -- position of the kernel in the order of launch of a step, from 0
  launch INTEGER NOT NULL,
  -- phase that launched it; NULL outside of phases
  phase_id INTEGER REFERENCES string,
  -- name of the kernel; NULL if unknown
  kernel_id INTEGER REFERENCES string,
  -- CUPTI's name of the metric
  name_id INTEGER NOT NULL REFERENCES string,
  -- number of steps in which the metric was counted
  steps INTEGER NOT NULL,
  -- sum over these
  value REAL NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;
