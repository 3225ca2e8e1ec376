-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 3: how steps were scheduled, and warnings of the workers.

-- processor time of all threads of the process during the whole step; with timing hot, per step of the batch; with
-- timing free, the mean of the steps between two readings, or NULL if the program ended before the second one. NULL for
-- phases and in other passes than time
ALTER TABLE sample ADD COLUMN cpu_ns INTEGER;
-- number of times that a thread lost its processor during the whole step although it could run; with timing hot, in the
-- batch; with timing free, in the steps since the last value. NULL as above
ALTER TABLE sample ADD COLUMN involuntary_switches INTEGER;

-- How the threads of a worker were scheduled during a block of measured steps of the time pass, at least 50 ms unless
-- the pass ends. It reaches from the begin of its first step to the end of its last one.
CREATE TABLE scheduling (
  -- run they belong to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank of the worker
  rank INTEGER NOT NULL,
  -- pass in which they were recorded
  pass TEXT NOT NULL,
  -- last step of the block
  step INTEGER NOT NULL,
  -- number of steps of the block
  steps INTEGER NOT NULL,
  -- begin on the host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- elapsed time on the host clock
  wall_ns INTEGER NOT NULL,
  -- processor time of all threads, within the steps
  cpu_ns INTEGER NOT NULL,
  -- number of times that a thread lost its processor although it could run, within the steps
  involuntary_switches INTEGER NOT NULL,
  -- number of threads; NULL if the system does not count waits (/proc/PID/task/TID/schedstat)
  threads INTEGER,
  -- time that the threads could run but waited for a processor, summed over the threads; NULL as above
  wait_ns INTEGER,
  -- the same for the thread that waited longest
  longest_wait_ns INTEGER,
  -- time in which any thread of the machine waited for a processor (/proc/pressure/cpu); NULL if unknown
  pressure_ns INTEGER,
  -- number of running and waiting threads of the machine, over one minute; NULL if unknown
  load_average REAL,
  PRIMARY KEY (run_id, rank, pass, step)
) WITHOUT ROWID;

-- Warnings of the workers about their measurements.
CREATE TABLE warning (
  -- run they belong to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank of the worker
  rank INTEGER NOT NULL,
  -- pass they belong to
  pass TEXT NOT NULL,
  -- order
  sequence INTEGER NOT NULL,
  -- kind, as in run_warning
  kind TEXT NOT NULL,
  -- details, in one line
  detail TEXT NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Batches that could not be held were counted as dropped records before this table existed.
INSERT INTO warning (run_id, rank, pass, sequence, kind, detail)
SELECT
  run_id,
  rank,
  pass,
  sequence,
  'launch overhead',
  CASE count WHEN 1 THEN '1 batch: ' ELSE count || ' batches: ' END || detail
FROM dropped_record
WHERE source = 'hold';
DELETE FROM dropped_record WHERE source = 'hold';
