-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 12: what autograd keeps for the backward pass.

-- A tensor that a node of an autograd graph keeps when the backward pass begins, in the newest step of the memory pass:
-- of the largest graph, and of the largest one that is differentiated within another one, such as a checkpoint. Derived
-- when the pass ends.
CREATE TABLE saved_tensor (
  -- run the step belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that owns the memory
  rank INTEGER NOT NULL,
  -- pass in which it was recorded
  pass TEXT NOT NULL,
  -- position in the order of the forward pass
  sequence INTEGER NOT NULL,
  -- step number from 0, including warm-up steps
  step INTEGER NOT NULL,
  -- 1 if the graph is differentiated within the backward pass of another one
  nested INTEGER NOT NULL,
  -- name of the node, such as MulBackward0
  node_id INTEGER NOT NULL REFERENCES string,
  -- scope that created the node; NULL if unknown
  scope_id INTEGER REFERENCES string,
  -- data type and sizes of the tensor
  type_id INTEGER NOT NULL REFERENCES string,
  -- size of its elements
  bytes INTEGER NOT NULL,
  -- number of its storage within the graph; tensors with the same number share memory
  storage INTEGER NOT NULL,
  -- size of the storage; 0 if it has no memory until it is computed again
  storage_bytes INTEGER NOT NULL,
  -- storage_bytes at the first node that keeps the storage, otherwise 0
  counted_bytes INTEGER NOT NULL,
  -- activation, parameter, input, or other: memory from before the step, such as a buffer
  memory TEXT NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- step_activity.end_ns: end of the interval; if the step enters the phase more than once, start_ns plus the lengths of
-- its intervals
