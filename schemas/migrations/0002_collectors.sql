-- SPDX-License-Identifier: Apache-2.0
-- What collectors observe in the passes memory, trace and ops: ranges, kernels, copies, operators, memory, and how far
-- to trust them.
-- Numbers named ..._id are rows of string unless their comment says otherwise. Event rows are numbered by `sequence`
-- within their pass.

-- Whether the pass could be observed as asked for.

-- events only: kernels could not be recorded, table loss says why; empty otherwise
ALTER TABLE rank ADD COLUMN observation TEXT NOT NULL DEFAULT '';

-- What the run was told to keep of its events.

-- all; one-step: of events those of one measured step per pass; summary: neither events nor samples
ALTER TABLE run ADD COLUMN keep TEXT NOT NULL DEFAULT 'all';

-- A text that events refer to by number: names of kernels, operators, phases and scopes.
CREATE TABLE string (
  -- number within this database
  string_id INTEGER PRIMARY KEY,
  -- the text; names of kernels and functions are demangled
  text TEXT NOT NULL UNIQUE
);

-- What kind of kernel a name is.
CREATE TABLE kernel_class (
  -- name of the kernel, copy or memset
  name_id INTEGER PRIMARY KEY REFERENCES string,
  -- without template arguments, parameters and namespaces
  short_name TEXT NOT NULL,
  -- matmul, softmax, elementwise, reduction, attention, normalisation, optimizer, communication, copy, memset or other
  class TEXT NOT NULL
);

-- A path of scopes, as block_3/attention/softmax.
CREATE TABLE scope_path (
  -- the path
  scope_id INTEGER PRIMARY KEY REFERENCES string,
  -- the path without the numbers of repeated parts: block/attention/softmax
  module TEXT NOT NULL,
  -- scopes it names
  depth INTEGER NOT NULL
);

-- An instance of a phase or a scope.
CREATE TABLE "range" (
  -- whose instance
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank it happened on
  rank INTEGER NOT NULL,
  -- pass it happened in
  pass TEXT NOT NULL,
  -- order of beginning
  sequence INTEGER NOT NULL,
  -- sequence of the range around it on its thread; NULL if there is none
  parent INTEGER,
  -- phase or scope
  kind TEXT NOT NULL,
  -- its own name
  name_id INTEGER NOT NULL,
  -- path of scopes down to it; NULL for a phase
  scope_id INTEGER,
  -- step it began in; −1 outside of steps
  step INTEGER NOT NULL,
  -- phase it began in; NULL outside of phases
  phase_id INTEGER,
  -- thread, numbered from 0 in the order in which they were first seen
  thread INTEGER NOT NULL,
  -- host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- the same; NULL if it never ended
  end_ns INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- How kernels were launched: each distinct shape of a pass once.
CREATE TABLE launch_shape (
  -- whose kernels
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that launched them
  rank INTEGER NOT NULL,
  -- pass they ran in
  pass TEXT NOT NULL,
  -- number of the shape
  shape INTEGER NOT NULL,
  -- blocks along x
  grid_x INTEGER NOT NULL,
  -- along y
  grid_y INTEGER NOT NULL,
  -- along z
  grid_z INTEGER NOT NULL,
  -- threads of a block along x
  block_x INTEGER NOT NULL,
  -- along y
  block_y INTEGER NOT NULL,
  -- along z
  block_z INTEGER NOT NULL,
  -- shared memory of a block fixed when the kernel was compiled
  static_shared_bytes INTEGER NOT NULL,
  -- shared memory of a block asked for at the launch
  dynamic_shared_bytes INTEGER NOT NULL,
  -- registers of a thread
  registers INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, shape)
) WITHOUT ROWID;

-- A kernel that ran on a GPU. It belongs to the step, phase and scope that it was launched in, whichever thread
-- launched it.
CREATE TABLE kernel (
  -- whose kernel
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that launched it
  rank INTEGER NOT NULL,
  -- pass it ran in
  pass TEXT NOT NULL,
  -- order of starting
  sequence INTEGER NOT NULL,
  -- its name
  name_id INTEGER NOT NULL,
  -- start on the device, on the host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- end
  end_ns INTEGER NOT NULL,
  -- number of the stream
  stream INTEGER NOT NULL,
  -- number of the call that launched it, or its whole graph
  correlation_id INTEGER NOT NULL,
  -- step; −1 outside of steps
  step INTEGER NOT NULL,
  -- phase; NULL if unknown or outside of phases
  phase_id INTEGER,
  -- path of scopes; NULL if unknown or outside of scopes
  scope_id INTEGER,
  -- how it was placed: launch (scope of the launching thread), autograd (forward scope of the backward node), graph (as
  -- its graph node at capture), phase (no scope is known), none
  attribution TEXT NOT NULL,
  -- row of launch_shape
  shape INTEGER NOT NULL,
  -- node of the CUDA graph; NULL for an eager launch
  graph_node INTEGER,
  -- sequence of the operator that launched it in table op; NULL if operators were not recorded
  op INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A copy that a GPU made.
CREATE TABLE memcpy (
  -- whose copy
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that asked for it
  rank INTEGER NOT NULL,
  -- pass it ran in
  pass TEXT NOT NULL,
  -- order of starting
  sequence INTEGER NOT NULL,
  -- its direction, as `memcpy host to device`
  name_id INTEGER NOT NULL,
  -- size
  bytes INTEGER NOT NULL,
  -- as in kernel
  start_ns INTEGER NOT NULL,
  -- as in kernel
  end_ns INTEGER NOT NULL,
  -- as in kernel
  stream INTEGER NOT NULL,
  -- as in kernel
  correlation_id INTEGER NOT NULL,
  -- as in kernel
  step INTEGER NOT NULL,
  -- as in kernel
  phase_id INTEGER,
  -- as in kernel
  scope_id INTEGER,
  -- as in kernel
  attribution TEXT NOT NULL,
  -- as in kernel
  graph_node INTEGER,
  -- as in kernel
  op INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A memset that a GPU made.
CREATE TABLE memset (
  -- whose memset
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that asked for it
  rank INTEGER NOT NULL,
  -- pass it ran in
  pass TEXT NOT NULL,
  -- order of starting
  sequence INTEGER NOT NULL,
  -- `memset`
  name_id INTEGER NOT NULL,
  -- size
  bytes INTEGER NOT NULL,
  -- as in kernel
  start_ns INTEGER NOT NULL,
  -- as in kernel
  end_ns INTEGER NOT NULL,
  -- as in kernel
  stream INTEGER NOT NULL,
  -- as in kernel
  correlation_id INTEGER NOT NULL,
  -- as in kernel
  step INTEGER NOT NULL,
  -- as in kernel
  phase_id INTEGER,
  -- as in kernel
  scope_id INTEGER,
  -- as in kernel
  attribution TEXT NOT NULL,
  -- as in kernel
  graph_node INTEGER,
  -- as in kernel
  op INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A call into CUDA.
CREATE TABLE api_call (
  -- whose call
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that made it
  rank INTEGER NOT NULL,
  -- pass it was made in
  pass TEXT NOT NULL,
  -- order of beginning
  sequence INTEGER NOT NULL,
  -- name of the function
  name_id INTEGER NOT NULL,
  -- host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- the same
  end_ns INTEGER NOT NULL,
  -- the system's number of the thread
  thread INTEGER NOT NULL,
  -- what kernels and copies that it launched carry
  correlation_id INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A wait for a GPU.
CREATE TABLE synchronization (
  -- whose wait
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that waited
  rank INTEGER NOT NULL,
  -- pass it happened in
  pass TEXT NOT NULL,
  -- order of beginning
  sequence INTEGER NOT NULL,
  -- event, stream, stream event or context
  kind TEXT NOT NULL,
  -- host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- the same
  end_ns INTEGER NOT NULL,
  -- number of the stream; NULL if it is none in particular
  stream INTEGER,
  -- number of the call
  correlation_id INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Time that the tracing itself took, as CUPTI reports it.
CREATE TABLE tracing_pause (
  -- whose time
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank it was taken from
  rank INTEGER NOT NULL,
  -- pass it happened in
  pass TEXT NOT NULL,
  -- order of beginning
  sequence INTEGER NOT NULL,
  -- what took it: driver compiler, buffer flush, instrumentation, resource, lazy loading ...
  kind TEXT NOT NULL,
  -- host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- the same
  end_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- One call of an operator of LibTorch.
CREATE TABLE op (
  -- whose call
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that made it
  rank INTEGER NOT NULL,
  -- pass it was made in
  pass TEXT NOT NULL,
  -- order of beginning
  sequence INTEGER NOT NULL,
  -- sequence of the operator that called it; NULL at the top
  parent INTEGER,
  -- as aten::mm, or the name of a backward node
  name_id INTEGER NOT NULL,
  -- shapes of its inputs, as [4, 256] [256]; NULL if not asked for
  shapes_id INTEGER,
  -- 1 for a node of the backward pass
  backward INTEGER NOT NULL,
  -- host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- the same; NULL if it never ended
  end_ns INTEGER,
  -- without the operators that it called
  self_ns INTEGER NOT NULL,
  -- thread, numbered as in range
  thread INTEGER NOT NULL,
  -- autograd's sequence number, which a forward operator shares with its backward node; NULL without one
  autograd_sequence INTEGER,
  -- step; −1 outside of steps
  step INTEGER NOT NULL,
  -- as in kernel
  phase_id INTEGER,
  -- as in kernel
  scope_id INTEGER,
  -- as in kernel
  attribution TEXT NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Kernels, copies and memsets of the measured steps by where they belong. Derived when the pass ends.
CREATE TABLE kernel_total (
  -- whose kernels
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that launched them
  rank INTEGER NOT NULL,
  -- pass they ran in
  pass TEXT NOT NULL,
  -- order; says nothing
  sequence INTEGER NOT NULL,
  -- kernel, memcpy or memset
  kind TEXT NOT NULL,
  -- as in kernel
  phase_id INTEGER,
  -- as in kernel
  scope_id INTEGER,
  -- as in kernel
  name_id INTEGER NOT NULL,
  -- as in kernel
  attribution TEXT NOT NULL,
  -- measured steps of the pass, over which the sums go
  steps INTEGER NOT NULL,
  -- how many ran
  calls INTEGER NOT NULL,
  -- copied or set in all; 0 for kernels
  bytes INTEGER NOT NULL,
  -- sum of their durations
  total_ns INTEGER NOT NULL,
  -- shortest
  min_ns INTEGER NOT NULL,
  -- longest
  max_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Operators of the measured steps by where they belong. Derived when the pass ends.
CREATE TABLE op_total (
  -- whose operators
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that called them
  rank INTEGER NOT NULL,
  -- pass they ran in
  pass TEXT NOT NULL,
  -- order; says nothing
  sequence INTEGER NOT NULL,
  -- as in kernel
  phase_id INTEGER,
  -- as in kernel
  scope_id INTEGER,
  -- as in op
  name_id INTEGER NOT NULL,
  -- as in op
  backward INTEGER NOT NULL,
  -- measured steps of the pass, over which the sums go
  steps INTEGER NOT NULL,
  -- how many were made
  calls INTEGER NOT NULL,
  -- time on the host, with the operators that they called
  host_ns INTEGER NOT NULL,
  -- without them
  self_host_ns INTEGER NOT NULL,
  -- kernels, copies and memsets that they launched themselves
  kernels INTEGER NOT NULL,
  -- sum of those kernels' durations
  device_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- What the GPU did while a phase ran there: from the start of the first kernel that was launched in it to that of the
-- next phase. The parts of a step sum to its span: compute + communication − overlap + exposed copies + idle. Derived
-- when the pass ends.
CREATE TABLE step_activity (
  -- whose step
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank whose GPU it is
  rank INTEGER NOT NULL,
  -- pass it ran in
  pass TEXT NOT NULL,
  -- counts from 0, warm-up steps included
  step INTEGER NOT NULL,
  -- phase; `step` is the whole step, `other` what was launched outside of phases
  phase TEXT NOT NULL,
  -- 1 for a warm-up step
  warmup INTEGER NOT NULL,
  -- begin of the stretch on the device, on the host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- its end
  end_ns INTEGER NOT NULL,
  -- kernels, copies and memsets that started in it
  kernels INTEGER NOT NULL,
  -- sum of the kernels' durations, without regard to overlap
  kernel_ns INTEGER NOT NULL,
  -- some kernel other than communication ran
  compute_ns INTEGER NOT NULL,
  -- some kernel of communication ran
  comm_ns INTEGER NOT NULL,
  -- both ran
  overlap_ns INTEGER NOT NULL,
  -- communication ran and nothing else
  exposed_comm_ns INTEGER NOT NULL,
  -- a copy or memset ran
  copy_ns INTEGER NOT NULL,
  -- a copy or memset ran and no kernel
  exposed_copy_ns INTEGER NOT NULL,
  -- nothing ran
  idle_ns INTEGER NOT NULL,
  -- stretches in which nothing ran
  gaps INTEGER NOT NULL,
  -- the longest of them
  longest_gap_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, step, phase)
) WITHOUT ROWID;

-- A call of a kernel that lasted far longer than its siblings: those of the same name, launch shape and module. Derived
-- when the pass ends.
CREATE TABLE kernel_outlier (
  -- whose call
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that launched it
  rank INTEGER NOT NULL,
  -- pass it ran in
  pass TEXT NOT NULL,
  -- order of starting, as in kernel
  sequence INTEGER NOT NULL,
  -- as in kernel
  name_id INTEGER NOT NULL,
  -- as in kernel
  step INTEGER NOT NULL,
  -- as in kernel
  phase_id INTEGER,
  -- as in kernel
  scope_id INTEGER,
  -- how long it ran
  duration_ns INTEGER NOT NULL,
  -- how many there are, itself included
  siblings INTEGER NOT NULL,
  -- median of their durations
  sibling_median_ns INTEGER NOT NULL,
  -- distance from the median in median absolute deviations (of at least 1 % of the median)
  deviation REAL NOT NULL,
  -- 1 if it was the first of its name in the pass
  first_use INTEGER NOT NULL,
  -- kernels, copies and memsets that ran at the same time
  concurrent INTEGER NOT NULL,
  -- how long the GPU had been idle before it
  gap_before_ns INTEGER NOT NULL,
  -- clock at the reading nearest in time; NULL if there is none
  sm_clock_mhz INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A block that an allocator handed out: on the GPU LibTorch's caching allocator, on the CPU LibTorch's allocator.
CREATE TABLE allocation (
  -- whose block
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that asked for it
  rank INTEGER NOT NULL,
  -- pass it was asked for in
  pass TEXT NOT NULL,
  -- place of its birth among all memory events of the pass
  sequence INTEGER NOT NULL,
  -- cuda or cpu
  device TEXT NOT NULL,
  -- where it begins; above 2^63 as a negative number
  address INTEGER NOT NULL,
  -- size that was asked for
  requested_bytes INTEGER NOT NULL,
  -- size that the allocator took for it
  allocated_bytes INTEGER NOT NULL,
  -- birth, host clock, relative to the start of the run
  alloc_ns INTEGER NOT NULL,
  -- when it was given back; NULL if it was alive at the end of the pass
  free_ns INTEGER,
  -- when its memory could be used again: later than free_ns if another stream still used it
  reusable_ns INTEGER,
  -- place of free_ns among the memory events
  free_sequence INTEGER,
  -- place of reusable_ns
  reusable_sequence INTEGER,
  -- number of the stream it was asked for on; 0 is the default one
  stream INTEGER NOT NULL,
  -- thread, numbered as in range
  thread INTEGER NOT NULL,
  -- step of its birth; −1 outside of steps
  step INTEGER NOT NULL,
  -- phase of its birth
  phase_id INTEGER,
  -- path of scopes of its birth; of a backward node the forward scope
  scope_id INTEGER,
  -- step it was given back in; NULL if it was not
  free_step INTEGER,
  -- phase it was given back in
  free_phase_id INTEGER,
  -- innermost operator that asked for it; NULL if there was none
  op_id INTEGER,
  -- parameter, gradient, optimizer_state, activation, workspace, input or unknown
  category TEXT NOT NULL,
  -- what says so: tag (the workload), lifetime (born in an operator of the forward pass and alive after it; or born and
  -- gone within one operator), or empty
  category_from TEXT NOT NULL,
  -- row of stack; NULL if none was taken
  stack INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Memory that the caching allocator holds of the driver. Where it was given back in parts, each part is a row.
CREATE TABLE segment (
  -- whose memory
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that holds it
  rank INTEGER NOT NULL,
  -- pass it was taken in
  pass TEXT NOT NULL,
  -- place of its birth among the memory events
  sequence INTEGER NOT NULL,
  -- where it begins
  address INTEGER NOT NULL,
  -- size
  bytes INTEGER NOT NULL,
  -- number of the stream it serves
  stream INTEGER NOT NULL,
  -- when it was taken
  alloc_ns INTEGER NOT NULL,
  -- when it was given back to the driver; NULL if it was not
  free_ns INTEGER,
  -- place of free_ns among the memory events
  free_sequence INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence, address)
) WITHOUT ROWID;

-- A point of the memory curves: the allocator's counters after a memory event. Points between which no curve moves by
-- much are left out;
-- the highest points of each curve and phase are always there.
CREATE TABLE memory_point (
  -- whose curves
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank whose allocator it is
  rank INTEGER NOT NULL,
  -- pass they were taken in
  pass TEXT NOT NULL,
  -- place among the memory events
  sequence INTEGER NOT NULL,
  -- cuda or cpu
  device TEXT NOT NULL,
  -- host clock, relative to the start of the run
  time_ns INTEGER NOT NULL,
  -- step; −1 outside of steps
  step INTEGER NOT NULL,
  -- phase
  phase_id INTEGER,
  -- asked for by blocks in use
  requested_bytes INTEGER NOT NULL,
  -- handed out
  allocated_bytes INTEGER NOT NULL,
  -- handed out, or given back but still used by a stream
  active_bytes INTEGER NOT NULL,
  -- held of the driver
  reserved_bytes INTEGER NOT NULL,
  -- allocated sizes of the live blocks of that category
  parameter_bytes INTEGER NOT NULL,
  -- the same
  gradient_bytes INTEGER NOT NULL,
  -- the same
  optimizer_state_bytes INTEGER NOT NULL,
  -- the same
  activation_bytes INTEGER NOT NULL,
  -- the same
  workspace_bytes INTEGER NOT NULL,
  -- the same
  input_bytes INTEGER NOT NULL,
  -- the same
  unknown_bytes INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Peaks of the memory curves within each phase of each step, and what was alive by category at the highest allocated
-- point.
CREATE TABLE memory_phase (
  -- whose curves
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank whose allocator it is
  rank INTEGER NOT NULL,
  -- pass they were taken in
  pass TEXT NOT NULL,
  -- cuda or cpu
  device TEXT NOT NULL,
  -- step; −1 for the time before the first and after the last
  step INTEGER NOT NULL,
  -- phase; `step` is the whole step, `other` what lies outside of phases
  phase TEXT NOT NULL,
  -- 1 for a warm-up step
  warmup INTEGER NOT NULL,
  -- handed out when it began
  begin_allocated_bytes INTEGER NOT NULL,
  -- handed out when it ended
  end_allocated_bytes INTEGER NOT NULL,
  -- highest value of that curve
  peak_requested_bytes INTEGER NOT NULL,
  -- the same
  peak_allocated_bytes INTEGER NOT NULL,
  -- the same
  peak_active_bytes INTEGER NOT NULL,
  -- the same
  peak_reserved_bytes INTEGER NOT NULL,
  -- when allocated_bytes was highest
  peak_ns INTEGER NOT NULL,
  -- alive at that moment, allocated sizes
  parameter_bytes INTEGER NOT NULL,
  -- the same
  gradient_bytes INTEGER NOT NULL,
  -- the same
  optimizer_state_bytes INTEGER NOT NULL,
  -- the same
  activation_bytes INTEGER NOT NULL,
  -- the same
  workspace_bytes INTEGER NOT NULL,
  -- the same
  input_bytes INTEGER NOT NULL,
  -- the same
  unknown_bytes INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, device, step, phase)
) WITHOUT ROWID;

-- A reading of the memory of the whole GPU, all processes together.
CREATE TABLE device_memory (
  -- whose reading
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank whose device it is
  rank INTEGER NOT NULL,
  -- pass it was taken in
  pass TEXT NOT NULL,
  -- order
  sequence INTEGER NOT NULL,
  -- host clock, relative to the start of the run
  time_ns INTEGER NOT NULL,
  -- before cuda, context made, prepared, after step, end; empty for readings in between
  moment TEXT NOT NULL,
  -- step; −1 outside of steps
  step INTEGER NOT NULL,
  -- in use on the device
  used_bytes INTEGER NOT NULL,
  -- in use by this process; NULL if the driver does not tell
  process_bytes INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- One frame of a stack of calls; innermost first.
CREATE TABLE stack (
  -- whose stack
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank it was taken on
  rank INTEGER NOT NULL,
  -- pass it was taken in
  pass TEXT NOT NULL,
  -- number of the stack
  stack INTEGER NOT NULL,
  -- 0 is the innermost frame
  depth INTEGER NOT NULL,
  -- row of stack_frame
  frame INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, stack, depth)
) WITHOUT ROWID;

-- A place in the code that stacks pass through.
CREATE TABLE stack_frame (
  -- whose frame
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank it was seen on
  rank INTEGER NOT NULL,
  -- pass it was seen in
  pass TEXT NOT NULL,
  -- number of the frame
  frame INTEGER NOT NULL,
  -- file name of the library
  module TEXT NOT NULL,
  -- address within it
  "offset" INTEGER NOT NULL,
  -- name of the function; NULL if the library does not tell
  function_id INTEGER,
  PRIMARY KEY (run_id, rank, pass, frame)
) WITHOUT ROWID;

-- A comparison of a device's clock with the host's, at the beginning and the end of a pass.
CREATE TABLE clock_sync (
  -- whose clocks
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that compared
  rank INTEGER NOT NULL,
  -- pass it was made in
  pass TEXT NOT NULL,
  -- order
  sequence INTEGER NOT NULL,
  -- name of the other clock
  clock TEXT NOT NULL,
  -- host clock, relative to the start of the run
  host_ns INTEGER NOT NULL,
  -- the other clock at that moment
  clock_ns INTEGER NOT NULL,
  -- bound on the error of the pair
  error_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- What observing cost: the median step of a pass against that of the time pass of the same run. Derived when the run
-- ends.
CREATE TABLE overhead (
  -- whose cost
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank it was measured on
  rank INTEGER NOT NULL,
  -- the observed pass
  pass TEXT NOT NULL,
  -- as in sample
  phase TEXT NOT NULL,
  -- observed steps, without warm-up
  steps INTEGER NOT NULL,
  -- median host time under observation
  observed_ns REAL NOT NULL,
  -- median host time in the time pass
  time_ns REAL NOT NULL,
  -- observed_ns / time_ns
  ratio REAL NOT NULL,
  PRIMARY KEY (run_id, rank, pass, phase)
) WITHOUT ROWID;
