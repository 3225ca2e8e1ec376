-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 6: compilations, and the group of a collective call.

-- What Dynamo and its backends compiled while a program ran, and where they left out code. Recorded by `kymo trace`,
-- from the import of torch to the last step of the pass.
CREATE TABLE compilation (
  -- run they belong to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that compiled
  rank INTEGER NOT NULL,
  -- pass in which it did
  pass TEXT NOT NULL,
  -- order on this rank
  sequence INTEGER NOT NULL,
  -- compilation; recompilation: what was compiled does not apply to the inputs; backward: of a backward pass when it
  -- runs first; runtime: autotuning or recording of CUDA graphs; failure: the code runs uncompiled; graph_break: code
  -- that is not part of the compiled graph
  kind TEXT NOT NULL,
  -- step of the pass, including warm-up steps; −1 before its first step
  step INTEGER NOT NULL,
  -- step of the program, from 0; −1 before its first step
  program_step INTEGER NOT NULL,
  -- start, host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- duration; 0 for a graph break, whose time is that of the compilation
  duration_ns INTEGER NOT NULL,
  -- part of it in which Inductor generated and compiled kernels; NULL if unknown
  inductor_ns INTEGER,
  -- function that is compiled; for a graph break, the one that contains the code
  function TEXT NOT NULL,
  -- path of its source file; empty if unknown
  file TEXT NOT NULL,
  -- first line of the function; for a graph break, the line of the code
  line INTEGER,
  -- why it is compiled again, why it failed, or what Dynamo cannot compile; empty for others
  reason TEXT NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- number of ranks that take part in the call; NULL if it is not recorded: then all ranks of the run
ALTER TABLE collective ADD COLUMN group_ranks INTEGER;
-- data type of the message: f32, bf16 ...; NULL if it is not recorded
ALTER TABLE collective ADD COLUMN dtype TEXT;
