-- SPDX-License-Identifier: Apache-2.0
-- Communication between ranks.

-- A call that all ranks of a communicator make together: on the GPU from its kernels, without a stream as the plugin reports it. Ranks are
-- compared by way of clock_sync rows of the clock `supervisor`.
CREATE TABLE collective (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose call
  rank INTEGER NOT NULL,                   -- rank that called
  pass TEXT NOT NULL,                      -- pass it was made in
  sequence INTEGER NOT NULL,               -- order of the calls of this rank
  communicator_id INTEGER NOT NULL,        -- name of the communicator: row of string
  number INTEGER NOT NULL,                 -- counts the calls of the communicator, the same on all its ranks
  operation TEXT NOT NULL,                 -- all_reduce, reduce_scatter, all_gather, broadcast or barrier
  bytes INTEGER NOT NULL,                  -- payload of this rank
  on_device INTEGER NOT NULL,              -- 1 if it was queued on a stream of the GPU
  enqueue_ns INTEGER NOT NULL,             -- when it was called, host clock, relative to the start of the run
  returned_ns INTEGER,                     -- when the call came back: queued on the GPU, or done; NULL if it never did
  start_ns INTEGER,                        -- when this rank began to work on it; NULL if that was not seen
  end_ns INTEGER,                          -- when this rank had done its part; NULL if that was not seen
  kernels INTEGER NOT NULL,                -- kernels that served it; calls of a group share theirs
  step INTEGER NOT NULL,                   -- step it was called in; −1 outside of steps
  phase_id INTEGER,                        -- phase it was called in
  scope_id INTEGER,                        -- path of scopes; of a backward node the forward scope
  attribution TEXT NOT NULL,               -- as in kernel
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;
