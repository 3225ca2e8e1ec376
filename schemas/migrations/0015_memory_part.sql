-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 15: what the memory consists of at its peak, measured and predicted.

-- Parts of the allocated memory at the highest peak of a pass: of pass memory, as measured, and of pass predict, as
-- predicted from the step without computing it. Derived when the pass ends.
CREATE TABLE memory_part (
  -- run
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank
  rank INTEGER NOT NULL,
  -- pass
  pass TEXT NOT NULL,
  -- cuda or cpu
  device TEXT NOT NULL,
  -- category of memory
  category TEXT NOT NULL,
  -- phase in which it was allocated; `outside` outside of steps, `other` outside of phases
  phase TEXT NOT NULL,
  -- outermost scope that allocated it, with * for the index of a repeated scope, or empty
  scope TEXT NOT NULL,
  -- allocated sizes of its live blocks
  bytes INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, device, category, phase, scope)
) WITHOUT ROWID;
