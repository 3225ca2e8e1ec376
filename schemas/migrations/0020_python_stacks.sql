-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 20: Python stacks of operators and launches.

-- line in the Python file that module names; NULL for the address of a library
ALTER TABLE stack_frame ADD COLUMN line INTEGER;
-- number of the Python stack in table stack: that of the call, or of the operator that created the backward node;
-- NULL if none was recorded
ALTER TABLE op ADD COLUMN stack INTEGER;
-- number of the Python stack in table stack: that of the launch, or of the operator that created the backward node;
-- NULL if none was recorded
ALTER TABLE gpu_activity ADD COLUMN stack INTEGER;

-- What the innermost line of the user's Python code did in the measured steps, by phase and kind. Sums over the lines,
-- with those that are unknown, are all operators, kernels, copies and memsets.
CREATE TABLE line_total (
  -- run
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank
  rank INTEGER NOT NULL,
  -- pass in which it was recorded
  pass TEXT NOT NULL,
  -- order of first occurrence
  sequence INTEGER NOT NULL,
  -- path of the Python file; NULL if the line is unknown
  file_id INTEGER,
  -- line in the file; NULL if it is unknown
  line INTEGER,
  -- function that contains the line
  function_id INTEGER,
  -- phase; NULL outside of phases
  phase_id INTEGER,
  -- 1 for work of the backward pass whose forward operator the line called
  of_forward INTEGER NOT NULL,
  -- operator, host read (an operator that copies a value to the host), kernel, copy to host, memcpy or memset
  kind TEXT NOT NULL,
  -- number of measured steps
  steps INTEGER NOT NULL,
  -- number of calls in all measured steps
  calls INTEGER NOT NULL,
  -- their time: on the host without that of called operators, or on the GPU
  total_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;
