-- SPDX-License-Identifier: Apache-2.0
-- What collectors observe in the passes memory, trace and ops: ranges, kernels, copies, operators, memory, and how far to trust them.
-- Numbers named ..._id are rows of string unless their comment says otherwise. Event rows are numbered by `sequence` within their pass.

-- Whether the pass could be observed as asked for.
ALTER TABLE rank ADD COLUMN observation TEXT NOT NULL DEFAULT '';  -- events only: kernels could not be recorded, table loss says why; empty otherwise

-- What the run was told to keep of its events.
ALTER TABLE run ADD COLUMN keep TEXT NOT NULL DEFAULT 'all';  -- all; one-step: of events those of one measured step per pass; summary: neither events nor samples

-- A text that events refer to by number: names of kernels, operators, phases and scopes.
CREATE TABLE string (
  string_id INTEGER PRIMARY KEY,  -- number within this database
  text TEXT NOT NULL UNIQUE       -- the text; names of kernels and functions are demangled
);

-- What kind of kernel a name is.
CREATE TABLE kernel_class (
  name_id INTEGER PRIMARY KEY REFERENCES string,  -- name of the kernel, copy or memset
  short_name TEXT NOT NULL,                       -- without template arguments, parameters and namespaces
  class TEXT NOT NULL                             -- matmul, softmax, elementwise, reduction, attention, normalisation, optimizer, communication, copy, memset or other
);

-- A path of scopes, as block_3/attention/softmax.
CREATE TABLE scope_path (
  scope_id INTEGER PRIMARY KEY REFERENCES string,  -- the path
  module TEXT NOT NULL,                            -- the path without the numbers of repeated parts: block/attention/softmax
  depth INTEGER NOT NULL                           -- scopes it names
);

-- An instance of a phase or a scope.
CREATE TABLE range (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose instance
  rank INTEGER NOT NULL,                   -- rank it happened on
  pass TEXT NOT NULL,                      -- pass it happened in
  sequence INTEGER NOT NULL,               -- order of beginning
  parent INTEGER,                          -- sequence of the range around it on its thread; NULL if there is none
  kind TEXT NOT NULL,                      -- phase or scope
  name_id INTEGER NOT NULL,                -- its own name
  scope_id INTEGER,                        -- path of scopes down to it; NULL for a phase
  step INTEGER NOT NULL,                   -- step it began in; −1 outside of steps
  phase_id INTEGER,                        -- phase it began in; NULL outside of phases
  thread INTEGER NOT NULL,                 -- thread, numbered from 0 in the order in which they were first seen
  start_ns INTEGER NOT NULL,               -- host clock, relative to the start of the run
  end_ns INTEGER,                          -- the same; NULL if it never ended
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- How kernels were launched: each distinct shape of a pass once.
CREATE TABLE launch_shape (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose kernels
  rank INTEGER NOT NULL,                   -- rank that launched them
  pass TEXT NOT NULL,                      -- pass they ran in
  shape INTEGER NOT NULL,                  -- number of the shape
  grid_x INTEGER NOT NULL,                 -- blocks along x
  grid_y INTEGER NOT NULL,                 -- along y
  grid_z INTEGER NOT NULL,                 -- along z
  block_x INTEGER NOT NULL,                -- threads of a block along x
  block_y INTEGER NOT NULL,                -- along y
  block_z INTEGER NOT NULL,                -- along z
  static_shared_bytes INTEGER NOT NULL,    -- shared memory of a block fixed when the kernel was compiled
  dynamic_shared_bytes INTEGER NOT NULL,   -- shared memory of a block asked for at the launch
  registers INTEGER NOT NULL,              -- registers of a thread
  PRIMARY KEY (run_id, rank, pass, shape)
) WITHOUT ROWID;

-- A kernel that ran on a GPU. It belongs to the step, phase and scope that it was launched in, whichever thread launched it.
CREATE TABLE kernel (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose kernel
  rank INTEGER NOT NULL,                   -- rank that launched it
  pass TEXT NOT NULL,                      -- pass it ran in
  sequence INTEGER NOT NULL,               -- order of starting
  name_id INTEGER NOT NULL,                -- its name
  start_ns INTEGER NOT NULL,               -- start on the device, on the host clock, relative to the start of the run
  end_ns INTEGER NOT NULL,                 -- end
  stream INTEGER NOT NULL,                 -- number of the stream
  correlation_id INTEGER NOT NULL,         -- number of the call that launched it, or its whole graph
  step INTEGER NOT NULL,                   -- step; −1 outside of steps
  phase_id INTEGER,                        -- phase; NULL if unknown or outside of phases
  scope_id INTEGER,                        -- path of scopes; NULL if unknown or outside of scopes
  attribution TEXT NOT NULL,               -- how it was placed: launch (scope of the launching thread), autograd (forward scope of the backward node), graph (as its graph node at capture), phase (no scope is known), none
  shape INTEGER NOT NULL,                  -- row of launch_shape
  graph_node INTEGER,                      -- node of the CUDA graph; NULL for an eager launch
  op INTEGER,                              -- sequence of the operator that launched it in table op; NULL if operators were not recorded
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A copy that a GPU made.
CREATE TABLE memcpy (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose copy
  rank INTEGER NOT NULL,                   -- rank that asked for it
  pass TEXT NOT NULL,                      -- pass it ran in
  sequence INTEGER NOT NULL,               -- order of starting
  name_id INTEGER NOT NULL,                -- its direction, as `memcpy host to device`
  bytes INTEGER NOT NULL,                  -- size
  start_ns INTEGER NOT NULL,               -- as in kernel
  end_ns INTEGER NOT NULL,                 -- as in kernel
  stream INTEGER NOT NULL,                 -- as in kernel
  correlation_id INTEGER NOT NULL,         -- as in kernel
  step INTEGER NOT NULL,                   -- as in kernel
  phase_id INTEGER,                        -- as in kernel
  scope_id INTEGER,                        -- as in kernel
  attribution TEXT NOT NULL,               -- as in kernel
  graph_node INTEGER,                      -- as in kernel
  op INTEGER,                              -- as in kernel
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A memset that a GPU made.
CREATE TABLE memset (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose memset
  rank INTEGER NOT NULL,                   -- rank that asked for it
  pass TEXT NOT NULL,                      -- pass it ran in
  sequence INTEGER NOT NULL,               -- order of starting
  name_id INTEGER NOT NULL,                -- `memset`
  bytes INTEGER NOT NULL,                  -- size
  start_ns INTEGER NOT NULL,               -- as in kernel
  end_ns INTEGER NOT NULL,                 -- as in kernel
  stream INTEGER NOT NULL,                 -- as in kernel
  correlation_id INTEGER NOT NULL,         -- as in kernel
  step INTEGER NOT NULL,                   -- as in kernel
  phase_id INTEGER,                        -- as in kernel
  scope_id INTEGER,                        -- as in kernel
  attribution TEXT NOT NULL,               -- as in kernel
  graph_node INTEGER,                      -- as in kernel
  op INTEGER,                              -- as in kernel
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A call into CUDA.
CREATE TABLE api_call (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose call
  rank INTEGER NOT NULL,                   -- rank that made it
  pass TEXT NOT NULL,                      -- pass it was made in
  sequence INTEGER NOT NULL,               -- order of beginning
  name_id INTEGER NOT NULL,                -- name of the function
  start_ns INTEGER NOT NULL,               -- host clock, relative to the start of the run
  end_ns INTEGER NOT NULL,                 -- the same
  thread INTEGER NOT NULL,                 -- the system's number of the thread
  correlation_id INTEGER NOT NULL,         -- what kernels and copies that it launched carry
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A wait for a GPU.
CREATE TABLE synchronization (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose wait
  rank INTEGER NOT NULL,                   -- rank that waited
  pass TEXT NOT NULL,                      -- pass it happened in
  sequence INTEGER NOT NULL,               -- order of beginning
  kind TEXT NOT NULL,                      -- event, stream, stream event or context
  start_ns INTEGER NOT NULL,               -- host clock, relative to the start of the run
  end_ns INTEGER NOT NULL,                 -- the same
  stream INTEGER,                          -- number of the stream; NULL if it is none in particular
  correlation_id INTEGER NOT NULL,         -- number of the call
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Time that the tracing itself took, as CUPTI reports it.
CREATE TABLE tracing_pause (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose time
  rank INTEGER NOT NULL,                   -- rank it was taken from
  pass TEXT NOT NULL,                      -- pass it happened in
  sequence INTEGER NOT NULL,               -- order of beginning
  kind TEXT NOT NULL,                      -- what took it: driver compiler, buffer flush, instrumentation, resource, lazy loading ...
  start_ns INTEGER NOT NULL,               -- host clock, relative to the start of the run
  end_ns INTEGER NOT NULL,                 -- the same
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- One call of an operator of LibTorch.
CREATE TABLE op (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose call
  rank INTEGER NOT NULL,                   -- rank that made it
  pass TEXT NOT NULL,                      -- pass it was made in
  sequence INTEGER NOT NULL,               -- order of beginning
  parent INTEGER,                          -- sequence of the operator that called it; NULL at the top
  name_id INTEGER NOT NULL,                -- as aten::mm, or the name of a backward node
  shapes_id INTEGER,                       -- shapes of its inputs, as [4, 256] [256]; NULL if not asked for
  backward INTEGER NOT NULL,               -- 1 for a node of the backward pass
  start_ns INTEGER NOT NULL,               -- host clock, relative to the start of the run
  end_ns INTEGER,                          -- the same; NULL if it never ended
  self_ns INTEGER NOT NULL,                -- without the operators that it called
  thread INTEGER NOT NULL,                 -- thread, numbered as in range
  autograd_sequence INTEGER,               -- autograd's sequence number, which a forward operator shares with its backward node; NULL without one
  step INTEGER NOT NULL,                   -- step; −1 outside of steps
  phase_id INTEGER,                        -- as in kernel
  scope_id INTEGER,                        -- as in kernel
  attribution TEXT NOT NULL,               -- as in kernel
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Kernels, copies and memsets of the measured steps by where they belong. Derived when the pass ends.
CREATE TABLE kernel_total (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose kernels
  rank INTEGER NOT NULL,                   -- rank that launched them
  pass TEXT NOT NULL,                      -- pass they ran in
  sequence INTEGER NOT NULL,               -- order; says nothing
  kind TEXT NOT NULL,                      -- kernel, memcpy or memset
  phase_id INTEGER,                        -- as in kernel
  scope_id INTEGER,                        -- as in kernel
  name_id INTEGER NOT NULL,                -- as in kernel
  attribution TEXT NOT NULL,               -- as in kernel
  steps INTEGER NOT NULL,                  -- measured steps of the pass, over which the sums go
  calls INTEGER NOT NULL,                  -- how many ran
  bytes INTEGER NOT NULL,                  -- copied or set in all; 0 for kernels
  total_ns INTEGER NOT NULL,               -- sum of their durations
  min_ns INTEGER NOT NULL,                 -- shortest
  max_ns INTEGER NOT NULL,                 -- longest
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Operators of the measured steps by where they belong. Derived when the pass ends.
CREATE TABLE op_total (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose operators
  rank INTEGER NOT NULL,                   -- rank that called them
  pass TEXT NOT NULL,                      -- pass they ran in
  sequence INTEGER NOT NULL,               -- order; says nothing
  phase_id INTEGER,                        -- as in kernel
  scope_id INTEGER,                        -- as in kernel
  name_id INTEGER NOT NULL,                -- as in op
  backward INTEGER NOT NULL,               -- as in op
  steps INTEGER NOT NULL,                  -- measured steps of the pass, over which the sums go
  calls INTEGER NOT NULL,                  -- how many were made
  host_ns INTEGER NOT NULL,                -- time on the host, with the operators that they called
  self_host_ns INTEGER NOT NULL,           -- without them
  kernels INTEGER NOT NULL,                -- kernels, copies and memsets that they launched themselves
  device_ns INTEGER NOT NULL,              -- sum of those kernels' durations
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- What the GPU did while a phase ran there: from the start of the first kernel that was launched in it to that of the next phase. The parts of
-- a step sum to its span: compute + communication − overlap + exposed copies + idle. Derived when the pass ends.
CREATE TABLE step_activity (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose step
  rank INTEGER NOT NULL,                   -- rank whose GPU it is
  pass TEXT NOT NULL,                      -- pass it ran in
  step INTEGER NOT NULL,                   -- counts from 0, warm-up steps included
  phase TEXT NOT NULL,                     -- phase; `step` is the whole step, `other` what was launched outside of phases
  warmup INTEGER NOT NULL,                 -- 1 for a warm-up step
  start_ns INTEGER NOT NULL,               -- begin of the stretch on the device, on the host clock, relative to the start of the run
  end_ns INTEGER NOT NULL,                 -- its end
  kernels INTEGER NOT NULL,                -- kernels, copies and memsets that started in it
  kernel_ns INTEGER NOT NULL,              -- sum of the kernels' durations, without regard to overlap
  compute_ns INTEGER NOT NULL,             -- some kernel other than communication ran
  comm_ns INTEGER NOT NULL,                -- some kernel of communication ran
  overlap_ns INTEGER NOT NULL,             -- both ran
  exposed_comm_ns INTEGER NOT NULL,        -- communication ran and nothing else
  copy_ns INTEGER NOT NULL,                -- a copy or memset ran
  exposed_copy_ns INTEGER NOT NULL,        -- a copy or memset ran and no kernel
  idle_ns INTEGER NOT NULL,                -- nothing ran
  gaps INTEGER NOT NULL,                   -- stretches in which nothing ran
  longest_gap_ns INTEGER NOT NULL,         -- the longest of them
  PRIMARY KEY (run_id, rank, pass, step, phase)
) WITHOUT ROWID;

-- A call of a kernel that lasted far longer than its siblings: those of the same name, launch shape and module. Derived when the pass ends.
CREATE TABLE kernel_outlier (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose call
  rank INTEGER NOT NULL,                   -- rank that launched it
  pass TEXT NOT NULL,                      -- pass it ran in
  sequence INTEGER NOT NULL,               -- order of starting, as in kernel
  name_id INTEGER NOT NULL,                -- as in kernel
  step INTEGER NOT NULL,                   -- as in kernel
  phase_id INTEGER,                        -- as in kernel
  scope_id INTEGER,                        -- as in kernel
  duration_ns INTEGER NOT NULL,            -- how long it ran
  siblings INTEGER NOT NULL,               -- how many there are, itself included
  sibling_median_ns INTEGER NOT NULL,      -- median of their durations
  deviation REAL NOT NULL,                 -- distance from the median in median absolute deviations (of at least 1 % of the median)
  first_use INTEGER NOT NULL,              -- 1 if it was the first of its name in the pass
  concurrent INTEGER NOT NULL,             -- kernels, copies and memsets that ran at the same time
  gap_before_ns INTEGER NOT NULL,          -- how long the GPU had been idle before it
  sm_clock_mhz INTEGER,                    -- clock at the reading nearest in time; NULL if there is none
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A block that an allocator handed out: on the GPU LibTorch's caching allocator, on the CPU LibTorch's allocator.
CREATE TABLE allocation (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose block
  rank INTEGER NOT NULL,                   -- rank that asked for it
  pass TEXT NOT NULL,                      -- pass it was asked for in
  sequence INTEGER NOT NULL,               -- place of its birth among all memory events of the pass
  device TEXT NOT NULL,                    -- cuda or cpu
  address INTEGER NOT NULL,                -- where it begins; above 2^63 as a negative number
  requested_bytes INTEGER NOT NULL,        -- size that was asked for
  allocated_bytes INTEGER NOT NULL,        -- size that the allocator took for it
  alloc_ns INTEGER NOT NULL,               -- birth, host clock, relative to the start of the run
  free_ns INTEGER,                         -- when it was given back; NULL if it was alive at the end of the pass
  reusable_ns INTEGER,                     -- when its memory could be used again: later than free_ns if another stream still used it
  free_sequence INTEGER,                   -- place of free_ns among the memory events
  reusable_sequence INTEGER,               -- place of reusable_ns
  stream INTEGER NOT NULL,                 -- number of the stream it was asked for on; 0 is the default one
  thread INTEGER NOT NULL,                 -- thread, numbered as in range
  step INTEGER NOT NULL,                   -- step of its birth; −1 outside of steps
  phase_id INTEGER,                        -- phase of its birth
  scope_id INTEGER,                        -- path of scopes of its birth; of a backward node the forward scope
  free_step INTEGER,                       -- step it was given back in; NULL if it was not
  free_phase_id INTEGER,                   -- phase it was given back in
  op_id INTEGER,                           -- innermost operator that asked for it; NULL if there was none
  category TEXT NOT NULL,                  -- parameter, gradient, optimizer_state, activation, workspace, input or unknown
  category_from TEXT NOT NULL,             -- what says so: tag (the workload), lifetime (born in an operator of the forward pass and alive after it; or born and gone within one operator), or empty
  stack INTEGER,                           -- row of stack; NULL if none was taken
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Memory that the caching allocator holds of the driver. Where it was given back in parts, each part is a row.
CREATE TABLE segment (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose memory
  rank INTEGER NOT NULL,                   -- rank that holds it
  pass TEXT NOT NULL,                      -- pass it was taken in
  sequence INTEGER NOT NULL,               -- place of its birth among the memory events
  address INTEGER NOT NULL,                -- where it begins
  bytes INTEGER NOT NULL,                  -- size
  stream INTEGER NOT NULL,                 -- number of the stream it serves
  alloc_ns INTEGER NOT NULL,               -- when it was taken
  free_ns INTEGER,                         -- when it was given back to the driver; NULL if it was not
  free_sequence INTEGER,                   -- place of free_ns among the memory events
  PRIMARY KEY (run_id, rank, pass, sequence, address)
) WITHOUT ROWID;

-- A point of the memory curves: the allocator's counters after a memory event. Points between which no curve moves by much are left out;
-- the highest points of each curve and phase are always there.
CREATE TABLE memory_point (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose curves
  rank INTEGER NOT NULL,                   -- rank whose allocator it is
  pass TEXT NOT NULL,                      -- pass they were taken in
  sequence INTEGER NOT NULL,               -- place among the memory events
  device TEXT NOT NULL,                    -- cuda or cpu
  time_ns INTEGER NOT NULL,                -- host clock, relative to the start of the run
  step INTEGER NOT NULL,                   -- step; −1 outside of steps
  phase_id INTEGER,                        -- phase
  requested_bytes INTEGER NOT NULL,        -- asked for by blocks in use
  allocated_bytes INTEGER NOT NULL,        -- handed out
  active_bytes INTEGER NOT NULL,           -- handed out, or given back but still used by a stream
  reserved_bytes INTEGER NOT NULL,         -- held of the driver
  parameter_bytes INTEGER NOT NULL,        -- allocated sizes of the live blocks of that category
  gradient_bytes INTEGER NOT NULL,         -- the same
  optimizer_state_bytes INTEGER NOT NULL,  -- the same
  activation_bytes INTEGER NOT NULL,       -- the same
  workspace_bytes INTEGER NOT NULL,        -- the same
  input_bytes INTEGER NOT NULL,            -- the same
  unknown_bytes INTEGER NOT NULL,          -- the same
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Peaks of the memory curves within each phase of each step, and what was alive by category at the highest allocated point.
CREATE TABLE memory_phase (
  run_id INTEGER NOT NULL REFERENCES run,   -- whose curves
  rank INTEGER NOT NULL,                    -- rank whose allocator it is
  pass TEXT NOT NULL,                       -- pass they were taken in
  device TEXT NOT NULL,                     -- cuda or cpu
  step INTEGER NOT NULL,                    -- step; −1 for the time before the first and after the last
  phase TEXT NOT NULL,                      -- phase; `step` is the whole step, `other` what lies outside of phases
  warmup INTEGER NOT NULL,                  -- 1 for a warm-up step
  begin_allocated_bytes INTEGER NOT NULL,   -- handed out when it began
  end_allocated_bytes INTEGER NOT NULL,     -- handed out when it ended
  peak_requested_bytes INTEGER NOT NULL,    -- highest value of that curve
  peak_allocated_bytes INTEGER NOT NULL,    -- the same
  peak_active_bytes INTEGER NOT NULL,       -- the same
  peak_reserved_bytes INTEGER NOT NULL,     -- the same
  peak_ns INTEGER NOT NULL,                 -- when allocated_bytes was highest
  parameter_bytes INTEGER NOT NULL,         -- alive at that moment, allocated sizes
  gradient_bytes INTEGER NOT NULL,          -- the same
  optimizer_state_bytes INTEGER NOT NULL,   -- the same
  activation_bytes INTEGER NOT NULL,        -- the same
  workspace_bytes INTEGER NOT NULL,         -- the same
  input_bytes INTEGER NOT NULL,             -- the same
  unknown_bytes INTEGER NOT NULL,           -- the same
  PRIMARY KEY (run_id, rank, pass, device, step, phase)
) WITHOUT ROWID;

-- A reading of the memory of the whole GPU, all processes together.
CREATE TABLE device_memory (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose reading
  rank INTEGER NOT NULL,                   -- rank whose device it is
  pass TEXT NOT NULL,                      -- pass it was taken in
  sequence INTEGER NOT NULL,               -- order
  time_ns INTEGER NOT NULL,                -- host clock, relative to the start of the run
  moment TEXT NOT NULL,                    -- before cuda, context made, prepared, after step, end; empty for readings in between
  step INTEGER NOT NULL,                   -- step; −1 outside of steps
  used_bytes INTEGER NOT NULL,             -- in use on the device
  process_bytes INTEGER,                   -- in use by this process; NULL if the driver does not tell
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- One frame of a stack of calls; innermost first.
CREATE TABLE stack (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose stack
  rank INTEGER NOT NULL,                   -- rank it was taken on
  pass TEXT NOT NULL,                      -- pass it was taken in
  stack INTEGER NOT NULL,                  -- number of the stack
  depth INTEGER NOT NULL,                  -- 0 is the innermost frame
  frame INTEGER NOT NULL,                  -- row of stack_frame
  PRIMARY KEY (run_id, rank, pass, stack, depth)
) WITHOUT ROWID;

-- A place in the code that stacks pass through.
CREATE TABLE stack_frame (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose frame
  rank INTEGER NOT NULL,                   -- rank it was seen on
  pass TEXT NOT NULL,                      -- pass it was seen in
  frame INTEGER NOT NULL,                  -- number of the frame
  module TEXT NOT NULL,                    -- file name of the library
  offset INTEGER NOT NULL,                 -- address within it
  function_id INTEGER,                     -- name of the function; NULL if the library does not tell
  PRIMARY KEY (run_id, rank, pass, frame)
) WITHOUT ROWID;

-- A comparison of a device's clock with the host's, at the beginning and the end of a pass.
CREATE TABLE clock_sync (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose clocks
  rank INTEGER NOT NULL,                   -- rank that compared
  pass TEXT NOT NULL,                      -- pass it was made in
  sequence INTEGER NOT NULL,               -- order
  clock TEXT NOT NULL,                     -- name of the other clock
  host_ns INTEGER NOT NULL,                -- host clock, relative to the start of the run
  clock_ns INTEGER NOT NULL,               -- the other clock at that moment
  error_ns INTEGER NOT NULL,               -- bound on the error of the pair
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- What observing cost: the median step of a pass against that of the time pass of the same run. Derived when the run ends.
CREATE TABLE overhead (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose cost
  rank INTEGER NOT NULL,                   -- rank it was measured on
  pass TEXT NOT NULL,                      -- the observed pass
  phase TEXT NOT NULL,                     -- as in sample
  steps INTEGER NOT NULL,                  -- observed steps, without warm-up
  observed_ns REAL NOT NULL,               -- median host time under observation
  time_ns REAL NOT NULL,                   -- median host time in the time pass
  ratio REAL NOT NULL,                     -- observed_ns / time_ns
  PRIMARY KEY (run_id, rank, pass, phase)
) WITHOUT ROWID;
