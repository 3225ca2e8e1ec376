-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 10: memory by category as rows.

-- Live memory by category at the allocated peak of a phase.
CREATE TABLE memory_phase_category (
  -- run the memory belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that owns the allocator
  rank INTEGER NOT NULL,
  -- pass in which it was recorded
  pass TEXT NOT NULL,
  -- as in memory_phase
  device TEXT NOT NULL,
  -- as in memory_phase
  step INTEGER NOT NULL,
  -- as in memory_phase
  phase TEXT NOT NULL,
  -- name in memory_category
  category TEXT NOT NULL,
  -- allocated bytes of its live blocks; without any, there is no row
  bytes INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, device, step, phase, category)
) WITHOUT ROWID;
INSERT INTO memory_phase_category
SELECT
  m.run_id,
  m.rank,
  m.pass,
  m.device,
  m.step,
  m.phase,
  c.column1,
  CASE c.column1
    WHEN 'parameter' THEN m.parameter_bytes
    WHEN 'gradient' THEN m.gradient_bytes
    WHEN 'optimizer_state' THEN m.optimizer_state_bytes
    WHEN 'activation' THEN m.activation_bytes
    WHEN 'workspace' THEN m.workspace_bytes
    WHEN 'input' THEN m.input_bytes
    WHEN 'communication' THEN m.communication_bytes
    ELSE m.unknown_bytes
  END AS bytes
FROM memory_phase m
CROSS JOIN (
  VALUES ('parameter'), ('gradient'), ('optimizer_state'), ('activation'), ('workspace'), ('input'), ('communication'),
  ('unknown')
) c
WHERE bytes <> 0;

CREATE TEMP TABLE moved AS SELECT * FROM memory_phase;
DROP TABLE memory_phase;

-- Peaks of the memory counters within each phase of each step. memory_phase_category has what the allocated peak
-- consists of.
CREATE TABLE memory_phase (
  -- run the counters belong to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that owns the allocator
  rank INTEGER NOT NULL,
  -- pass in which they were recorded
  pass TEXT NOT NULL,
  -- cuda or cpu
  device TEXT NOT NULL,
  -- step; −1 for the time before the first and after the last step
  step INTEGER NOT NULL,
  -- phase; `step` is the whole step, `other` the time outside of phases
  phase TEXT NOT NULL,
  -- 1 for a warm-up step
  warmup INTEGER NOT NULL,
  -- bytes allocated at the start
  begin_allocated_bytes INTEGER NOT NULL,
  -- bytes allocated at the end
  end_allocated_bytes INTEGER NOT NULL,
  -- maximum of the counter
  peak_requested_bytes INTEGER NOT NULL,
  -- maximum of the counter
  peak_allocated_bytes INTEGER NOT NULL,
  -- maximum of the counter
  peak_active_bytes INTEGER NOT NULL,
  -- maximum of the counter
  peak_reserved_bytes INTEGER NOT NULL,
  -- time of the allocated peak
  peak_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, device, step, phase)
) WITHOUT ROWID;
INSERT INTO memory_phase
SELECT
  run_id,
  rank,
  pass,
  device,
  step,
  phase,
  warmup,
  begin_allocated_bytes,
  end_allocated_bytes,
  peak_requested_bytes,
  peak_allocated_bytes,
  peak_active_bytes,
  peak_reserved_bytes,
  peak_ns
FROM moved;
DROP TABLE moved;

CREATE TEMP TABLE moved AS SELECT * FROM memory_point;
DROP TABLE memory_point;

-- A point of the memory timeline: the allocator's counters after a memory event. Points between which no counter and no
-- category changes much are omitted; the maximum of each counter in each phase is always kept. The memory by category
-- follows from allocation.
CREATE TABLE memory_point (
  -- run the counters belong to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that owns the allocator
  rank INTEGER NOT NULL,
  -- pass in which they were recorded
  pass TEXT NOT NULL,
  -- position among the memory events
  sequence INTEGER NOT NULL,
  -- cuda or cpu
  device TEXT NOT NULL,
  -- host clock, relative to the start of the run
  time_ns INTEGER NOT NULL,
  -- step; −1 outside of steps
  step INTEGER NOT NULL,
  -- phase
  phase_id INTEGER,
  -- bytes requested by live blocks
  requested_bytes INTEGER NOT NULL,
  -- bytes allocated
  allocated_bytes INTEGER NOT NULL,
  -- bytes allocated, or freed but still in use by a stream
  active_bytes INTEGER NOT NULL,
  -- bytes reserved from the driver
  reserved_bytes INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;
INSERT INTO memory_point
SELECT
  run_id,
  rank,
  pass,
  sequence,
  device,
  time_ns,
  step,
  phase_id,
  requested_bytes,
  allocated_bytes,
  active_bytes,
  reserved_bytes
FROM moved;
DROP TABLE moved;
