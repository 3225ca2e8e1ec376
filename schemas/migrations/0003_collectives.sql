-- SPDX-License-Identifier: Apache-2.0
-- Communication between ranks.

-- A call that all ranks of a communicator make together: on the GPU from its kernels, without a stream as the plugin
-- reports it. Ranks are compared by way of clock_sync rows of the clock `supervisor`.
CREATE TABLE collective (
  -- whose call
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that called
  rank INTEGER NOT NULL,
  -- pass it was made in
  pass TEXT NOT NULL,
  -- order of the calls of this rank
  sequence INTEGER NOT NULL,
  -- name of the communicator: row of string
  communicator_id INTEGER NOT NULL,
  -- counts the calls of the communicator, the same on all its ranks
  number INTEGER NOT NULL,
  -- all_reduce, reduce_scatter, all_gather, broadcast or barrier
  operation TEXT NOT NULL,
  -- payload of this rank
  bytes INTEGER NOT NULL,
  -- 1 if it was queued on a stream of the GPU
  on_device INTEGER NOT NULL,
  -- when it was called, host clock, relative to the start of the run
  enqueue_ns INTEGER NOT NULL,
  -- when the call came back: queued on the GPU, or done; NULL if it never did
  returned_ns INTEGER,
  -- when this rank began to work on it; NULL if that was not seen
  start_ns INTEGER,
  -- when this rank had done its part; NULL if that was not seen
  end_ns INTEGER,
  -- kernels that served it; calls of a group share theirs
  kernels INTEGER NOT NULL,
  -- step it was called in; −1 outside of steps
  step INTEGER NOT NULL,
  -- phase it was called in
  phase_id INTEGER,
  -- path of scopes; of a backward node the forward scope
  scope_id INTEGER,
  -- as in kernel
  attribution TEXT NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;
