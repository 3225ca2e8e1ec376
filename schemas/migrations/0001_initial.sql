-- SPDX-License-Identifier: Apache-2.0
-- The tables. Columns named ..._id of event tables refer to table string unless their comment says otherwise; event
-- rows are numbered by `sequence` within their pass. The comment above each table and column is its documentation:
-- docs/schema.md is generated from them.

-- Metadata of the database itself.
CREATE TABLE meta (
  -- schema_version, compatible_version (oldest schema version whose tools can still use the file), kymo_version, views
  -- (names, comma-separated) or views_digest
  key TEXT NOT NULL PRIMARY KEY,
  -- value
  value TEXT NOT NULL
) WITHOUT ROWID;

-- One invocation of `kymo run` or `kymo suite run`.
CREATE TABLE invocation (
  -- id within this database
  invocation_id INTEGER PRIMARY KEY,
  -- identity across databases, used by `kymo merge`
  uuid TEXT NOT NULL UNIQUE,
  -- command line
  command TEXT NOT NULL,
  -- wall-clock time in UTC, ISO 8601
  started_at TEXT NOT NULL,
  -- NULL while the invocation is running, or if it was killed
  ended_at TEXT,
  -- exit code of the tool; NULL while running or if killed
  exit_code INTEGER
);

-- One property of the machine that an invocation ran on.
CREATE TABLE environment (
  -- invocation that recorded the property
  invocation_id INTEGER NOT NULL REFERENCES invocation,
  -- host, cpu, kernel, driver, torch, cuda, relevant environment variables ...
  name TEXT NOT NULL,
  -- value
  value TEXT NOT NULL,
  PRIMARY KEY (invocation_id, name)
) WITHOUT ROWID;

-- A plugin library, identified by its content.
CREATE TABLE plugin (
  -- id within this database
  plugin_id INTEGER PRIMARY KEY,
  -- as reported by the plugin
  name TEXT NOT NULL,
  -- as reported by the plugin
  version TEXT NOT NULL,
  -- path it was loaded from
  file TEXT NOT NULL,
  -- SHA-256 of the file
  sha256 TEXT NOT NULL UNIQUE,
  -- libtorch, or empty
  framework TEXT NOT NULL,
  -- framework version it was built for
  framework_version TEXT NOT NULL,
  -- CUDA version it was built for, or empty
  cuda_version TEXT NOT NULL,
  -- compiler it was built with
  compiler TEXT NOT NULL
);

-- A GPU, or the CPU of a machine.
CREATE TABLE device (
  -- id within this database
  device_id INTEGER PRIMARY KEY,
  -- UUID of the GPU; for a CPU, a hash of host, model and core count
  uuid TEXT NOT NULL UNIQUE,
  -- cpu or cuda
  kind TEXT NOT NULL,
  -- model name
  name TEXT NOT NULL,
  -- total memory
  memory_bytes INTEGER NOT NULL,
  -- number of streaming multiprocessors; for a CPU, number of cores
  multiprocessors INTEGER,
  -- maximum SM clock; NULL if unknown
  max_sm_clock_mhz INTEGER,
  -- maximum memory clock; NULL if unknown
  max_memory_clock_mhz INTEGER
);

-- One execution of one case.
CREATE TABLE run (
  -- id within this database
  run_id INTEGER PRIMARY KEY,
  -- invocation that executed the run
  invocation_id INTEGER NOT NULL REFERENCES invocation,
  -- 0, 1, 2 ... in start order within its invocation; identifies the run across databases together with the
  -- invocation's uuid
  sequence INTEGER NOT NULL,
  -- library that contains the workload
  plugin_id INTEGER NOT NULL REFERENCES plugin,
  -- name of the workload
  workload TEXT NOT NULL,
  -- title of the workload, to which titles of parameters are appended; see run_series
  title TEXT NOT NULL DEFAULT '',
  -- family of workloads that reports compare, or empty
  family TEXT NOT NULL DEFAULT '',
  -- sort order of the workload within its family; 0 is the baseline
  family_order INTEGER NOT NULL DEFAULT 0,
  -- hash of workload, parameters, ranks, device kind, timing and sync: identifies what `kymo compare` compares
  case_key TEXT NOT NULL,
  -- hash of the case, its place in the suite and the measurement settings: a newer run replaces an older one in reports
  settings_key TEXT NOT NULL,
  -- hash of the case, how it is measured, the plugin and its libraries: runs with the same key are repetitions
  plan_key TEXT NOT NULL,
  -- suite name, or empty
  suite TEXT NOT NULL,
  -- case name within the suite, or empty
  suite_case TEXT NOT NULL,
  -- value of --label, or empty
  label TEXT NOT NULL,
  -- index of the repetition (--repeat), from 0
  repetition INTEGER NOT NULL,
  -- number of processes
  ranks INTEGER NOT NULL,
  -- cpu or cuda
  device_kind TEXT NOT NULL,
  -- timing of the steps: sync (each step on its own), hot (several steps between two events) or cold (each step after a
  -- flush of the GPU's caches)
  timing TEXT NOT NULL,
  -- where the host synchronizes with the device: step or phase
  sync TEXT NOT NULL,
  -- number of warm-up steps
  warmup INTEGER NOT NULL,
  -- number of measured steps planned; 0 if a stopping rule decides
  steps INTEGER NOT NULL,
  -- relative standard error at which the stopping rule ends the measurement; NULL without a stopping rule
  until_relative_error REAL,
  -- requested passes, comma-separated
  passes TEXT NOT NULL,
  -- random seed for parameters and batches
  seed INTEGER NOT NULL,
  -- running, ok, oom, failed, crashed, timeout, interrupted or skipped
  status TEXT NOT NULL,
  -- reason if the status is not ok, in one line
  detail TEXT NOT NULL,
  -- passed, failed, unavailable, or empty if not requested
  verification TEXT NOT NULL,
  -- exit code of the worker that failed first, if it exited
  exit_code INTEGER,
  -- signal that terminated the worker that failed first
  signal INTEGER,
  -- rank that failed first
  failed_rank INTEGER,
  -- pass in which it failed, or empty
  failed_pass TEXT NOT NULL,
  -- phase or stage in which it failed, or empty
  failed_phase TEXT NOT NULL,
  -- step in which it failed
  failed_step INTEGER,
  -- wall-clock time in UTC, ISO 8601
  started_at TEXT NOT NULL,
  -- NULL while the run is in progress
  ended_at TEXT,
  -- which records were retained (--keep): all; one-step: events of one measured step per pass; summary: neither events
  -- nor samples
  keep TEXT NOT NULL DEFAULT 'all'
);
CREATE INDEX run_by_plan ON run (plan_key);
CREATE UNIQUE INDEX run_by_invocation ON run (invocation_id, sequence);

-- A column of type BLOB keeps each value in the type it is inserted with, like a column without a type, which sqruff
-- cannot parse.

-- One parameter of a run.
CREATE TABLE param (
  -- run the parameter belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- parameter name
  name TEXT NOT NULL,
  -- 0, 1, 2 ... in declaration order
  position INTEGER NOT NULL DEFAULT 0,
  -- int, real, bool or text
  type TEXT NOT NULL,
  -- how titles show the value, with {} for the value; empty if they do not show it
  title TEXT NOT NULL DEFAULT '',
  -- 1 if runs are compared only if they agree on the parameter; otherwise it distinguishes variants
  setting INTEGER NOT NULL DEFAULT 0,
  -- index of the value among the choices; NULL without choices
  choice INTEGER,
  -- value in the corresponding SQLite type; bool as 0 or 1
  value BLOB NOT NULL,
  PRIMARY KEY (run_id, name)
) WITHOUT ROWID;

-- One worker process: one rank of a run in one pass.
CREATE TABLE rank (
  -- run the worker belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- 0 ... ranks − 1
  rank INTEGER NOT NULL,
  -- time, verify, memory, trace or ops
  pass TEXT NOT NULL,
  -- process id on its host; 0 if unknown
  pid INTEGER NOT NULL,
  -- host name; empty if unknown
  host TEXT NOT NULL,
  -- exit status of the worker; empty if its supervisor was killed before it was known
  status TEXT NOT NULL,
  -- device used; NULL if the worker did not get that far
  device_id INTEGER REFERENCES device,
  -- peak resident set size of the process
  resident_peak_bytes INTEGER,
  -- peak memory allocated by the caching allocator (torch.cuda.max_memory_allocated)
  allocated_peak_bytes INTEGER,
  -- peak memory reserved by the caching allocator (torch.cuda.max_memory_reserved)
  reserved_peak_bytes INTEGER,
  -- standard output, truncated to a limit; the end states how much was truncated
  stdout TEXT NOT NULL,
  -- standard error, truncated likewise
  stderr TEXT NOT NULL,
  -- `events only` if kernels could not be recorded and phases were timed by CUDA events alone, with the reason in
  -- dropped_record; empty otherwise
  trace_status TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (run_id, rank, pass)
) WITHOUT ROWID;

-- Time of one phase, or of the whole step, in one step on one rank.
CREATE TABLE sample (
  -- run the sample belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that measured it
  rank INTEGER NOT NULL,
  -- pass in which it was measured
  pass TEXT NOT NULL,
  -- step number from 0, including warm-up steps
  step INTEGER NOT NULL,
  -- phase name; `step` is the whole step, `other` the time outside all phases
  phase TEXT NOT NULL,
  -- 1 for a warm-up step, which is excluded from statistics
  warmup INTEGER NOT NULL,
  -- 1 if the GPU was throttled (thermal or hardware), or its clock was below 75 % of the median of the pass
  throttled INTEGER NOT NULL,
  -- number of times the phase was entered
  calls INTEGER NOT NULL,
  -- host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- elapsed time on the host clock
  host_ns INTEGER NOT NULL,
  -- elapsed time between CUDA events; NULL on a CPU
  device_ns INTEGER,
  PRIMARY KEY (run_id, rank, pass, step, phase)
) WITHOUT ROWID;

-- Time of one phase, or of the whole step, in one step of a run's time pass: the maximum over ranks. Derived from
-- sample when the run ends.
CREATE TABLE step_duration (
  -- run the step belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- as in sample
  phase TEXT NOT NULL,
  -- step number from 0, including warm-up steps
  step INTEGER NOT NULL,
  -- 1 for a warm-up step
  warmup INTEGER NOT NULL,
  -- 1 if any rank was throttled
  throttled INTEGER NOT NULL,
  -- number of ranks that measured it
  ranks INTEGER NOT NULL,
  -- elapsed time on the host clock
  host_ns INTEGER NOT NULL,
  -- elapsed time on the device; NULL if any rank lacks a device time
  device_ns INTEGER,
  PRIMARY KEY (run_id, phase, step)
) WITHOUT ROWID;

-- Statistics of the step durations of one phase of a run. A step counts once every rank has completed it.
CREATE TABLE statistic (
  -- run the statistics belong to
  run_id INTEGER NOT NULL REFERENCES run,
  -- as in sample
  phase TEXT NOT NULL,
  -- clock of the samples: host or device
  clock TEXT NOT NULL,
  -- number of samples included
  count INTEGER NOT NULL,
  -- number of samples excluded as throttled
  excluded INTEGER NOT NULL,
  -- 1 if every sample was throttled, so that none was excluded
  all_throttled INTEGER NOT NULL,
  -- arithmetic mean
  mean_ns REAL NOT NULL,
  -- sample standard deviation; NULL for one sample
  std_ns REAL,
  -- median
  median_ns REAL NOT NULL,
  -- minimum
  min_ns REAL NOT NULL,
  -- maximum
  max_ns REAL NOT NULL,
  -- lower end of the 95 % confidence interval of the mean
  ci_low_ns REAL,
  -- upper end of that interval
  ci_high_ns REAL,
  -- 95th percentile; NULL for fewer than 100 samples
  p95_ns REAL,
  PRIMARY KEY (run_id, phase, clock)
) WITHOUT ROWID;

-- A metric reported by the workload itself.
CREATE TABLE metric (
  -- run the metric belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that reported it
  rank INTEGER NOT NULL,
  -- pass in which it was reported
  pass TEXT NOT NULL,
  -- reporting order
  sequence INTEGER NOT NULL,
  -- run, step or phase
  level TEXT NOT NULL,
  -- step it belongs to; −1 for a metric of the run
  step INTEGER NOT NULL,
  -- phase it belongs to; empty unless level is phase
  phase TEXT NOT NULL,
  -- metric name
  name TEXT NOT NULL,
  -- number or text
  value BLOB,
  -- unit of a numeric value
  unit TEXT NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Work of one phase per step, as declared by the workload. The declaration of the time pass takes precedence; otherwise
-- that of the first pass with one is used.
CREATE TABLE work (
  -- run the work belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that performs the work
  rank INTEGER NOT NULL,
  -- phase name
  phase TEXT NOT NULL,
  -- floating-point operations; 0 = not declared
  flops REAL NOT NULL,
  -- bytes moved; 0 = not declared
  bytes REAL NOT NULL,
  PRIMARY KEY (run_id, rank, phase)
) WITHOUT ROWID;

-- One comparison of a workload's result with a reference.
CREATE TABLE verification (
  -- run whose result was compared
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that compared
  rank INTEGER NOT NULL,
  -- name of the compared value
  name TEXT NOT NULL,
  -- passed, failed or unavailable
  outcome TEXT NOT NULL,
  -- largest absolute difference
  max_abs_error REAL,
  -- largest relative difference
  max_rel_error REAL,
  -- tolerance
  tolerance REAL,
  -- description of the reference
  reference TEXT NOT NULL,
  -- reason for a failed or unavailable verification
  detail TEXT NOT NULL,
  PRIMARY KEY (run_id, rank, name)
) WITHOUT ROWID;

-- A reading of the GPU after a step.
CREATE TABLE gpu_sample (
  -- run the reading belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that uses the device
  rank INTEGER NOT NULL,
  -- pass in which it was taken
  pass TEXT NOT NULL,
  -- step after which it was taken
  step INTEGER NOT NULL,
  -- host clock, relative to the start of the run
  time_ns INTEGER NOT NULL,
  -- SM clock
  sm_clock_mhz INTEGER,
  -- memory clock
  memory_clock_mhz INTEGER,
  -- power draw
  power_mw INTEGER,
  -- GPU temperature
  temperature_c INTEGER,
  -- NVML bit mask of throttle reasons
  throttle_reasons INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, step)
) WITHOUT ROWID;

-- Counters of LibTorch's CUDA caching allocator, read after a step, outside its timed region.
CREATE TABLE memory_counter (
  -- run the reading belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that owns the allocator
  rank INTEGER NOT NULL,
  -- pass in which it was taken
  pass TEXT NOT NULL,
  -- step after which it was read; −1 before the first step
  step INTEGER NOT NULL,
  -- host clock, relative to the start of the run
  time_ns INTEGER NOT NULL,
  -- currently allocated
  allocated_bytes INTEGER NOT NULL,
  -- currently reserved
  reserved_bytes INTEGER NOT NULL,
  -- number of allocations requested from the driver since the pass began
  device_allocations INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, step)
) WITHOUT ROWID;

-- A marker set by the workload, or the end of one of the worker's own stages (names that begin with `worker: `).
CREATE TABLE mark (
  -- run the marker belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that set it
  rank INTEGER NOT NULL,
  -- pass in which it occurred
  pass TEXT NOT NULL,
  -- order within the pass
  sequence INTEGER NOT NULL,
  -- marker name
  name TEXT NOT NULL,
  -- host clock, relative to the start of the run: the start of the worker process in its first pass, the assignment for
  -- a reused worker
  time_ns INTEGER NOT NULL,
  -- step; −1 outside of steps
  step INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- An allocation that failed for lack of memory.
CREATE TABLE out_of_memory (
  -- run the allocation belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that requested the memory; −1 if the supervisor cannot attribute it to one rank
  rank INTEGER NOT NULL,
  -- pass in which it occurred
  pass TEXT NOT NULL,
  -- host or device
  location TEXT NOT NULL,
  -- requested size; NULL if unknown
  requested_bytes INTEGER,
  -- free memory at that time; NULL if unknown
  free_bytes INTEGER,
  -- peak memory in use before; NULL if unknown
  peak_bytes INTEGER,
  PRIMARY KEY (run_id, rank, pass)
) WITHOUT ROWID;

-- Records known to be missing.
CREATE TABLE dropped_record (
  -- run the records belong to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank the records belong to; −1 for the whole run
  rank INTEGER NOT NULL,
  -- pass the records belong to, or empty
  pass TEXT NOT NULL,
  -- order within the pass
  sequence INTEGER NOT NULL,
  -- collector or component that dropped them
  source TEXT NOT NULL,
  -- number of dropped records; −1 if unknown
  count INTEGER NOT NULL,
  -- what was dropped and why
  detail TEXT NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A library in the plugin's directory that is loaded with it, at the time the run was planned.
CREATE TABLE run_library (
  -- run that used the plugin
  run_id INTEGER NOT NULL REFERENCES run,
  -- file name in the plugin's directory
  name TEXT NOT NULL,
  -- SHA-256 of the file
  sha256 TEXT NOT NULL,
  PRIMARY KEY (run_id, name)
) WITHOUT ROWID;

-- A string that events refer to by id: names of kernels, operators, phases and scopes.
CREATE TABLE string (
  -- id within this database
  string_id INTEGER PRIMARY KEY,
  -- the string; names of kernels and functions are demangled
  text TEXT NOT NULL UNIQUE
);

-- The class of a kernel name.
CREATE TABLE kernel_class (
  -- name of the kernel, copy or memset
  name_id INTEGER PRIMARY KEY REFERENCES string,
  -- name without template arguments, parameters and namespaces
  short_name TEXT NOT NULL,
  -- matmul, softmax, elementwise, reduction, attention, normalisation, optimizer, communication, copy, memset or other
  class TEXT NOT NULL
);

-- A scope path such as block_3/attention/softmax.
CREATE TABLE scope_path (
  -- the path
  scope_id INTEGER PRIMARY KEY REFERENCES string,
  -- the path without the indices of repeated modules: block/attention/softmax
  module TEXT NOT NULL,
  -- number of scopes in the path
  depth INTEGER NOT NULL
);

-- An instance of a phase or scope.
CREATE TABLE "range" (
  -- run the range belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank on which it was recorded
  rank INTEGER NOT NULL,
  -- pass in which it occurred
  pass TEXT NOT NULL,
  -- order by start time
  sequence INTEGER NOT NULL,
  -- sequence of the enclosing range on the same thread; NULL if there is none
  parent INTEGER,
  -- phase or scope
  kind TEXT NOT NULL,
  -- name of the range
  name_id INTEGER NOT NULL,
  -- scope path including the range; NULL for a phase
  scope_id INTEGER,
  -- step in which it started; −1 outside of steps
  step INTEGER NOT NULL,
  -- phase in which it started; NULL outside of phases
  phase_id INTEGER,
  -- thread, numbered from 0 in order of first appearance
  thread INTEGER NOT NULL,
  -- host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- end on the same clock; NULL if it did not end
  end_ns INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A distinct kernel launch configuration of a pass.
CREATE TABLE launch_config (
  -- run the kernels belong to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that launched them
  rank INTEGER NOT NULL,
  -- pass in which they ran
  pass TEXT NOT NULL,
  -- number of the configuration within the pass
  launch_config INTEGER NOT NULL,
  -- grid size in blocks along x
  grid_x INTEGER NOT NULL,
  -- along y
  grid_y INTEGER NOT NULL,
  -- along z
  grid_z INTEGER NOT NULL,
  -- block size in threads along x
  block_x INTEGER NOT NULL,
  -- along y
  block_y INTEGER NOT NULL,
  -- along z
  block_z INTEGER NOT NULL,
  -- static shared memory per block
  static_shared_bytes INTEGER NOT NULL,
  -- dynamic shared memory per block
  dynamic_shared_bytes INTEGER NOT NULL,
  -- registers per thread
  registers INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, launch_config)
) WITHOUT ROWID;

-- A kernel executed on a GPU. It is attributed to the step, phase and scope in which it was launched, whichever thread
-- launched it.
CREATE TABLE kernel (
  -- run the kernel belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that launched it
  rank INTEGER NOT NULL,
  -- pass in which it ran
  pass TEXT NOT NULL,
  -- order by start time
  sequence INTEGER NOT NULL,
  -- name
  name_id INTEGER NOT NULL,
  -- device start time, converted to the host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- device end time
  end_ns INTEGER NOT NULL,
  -- CUDA stream id
  stream INTEGER NOT NULL,
  -- CUPTI correlation id of the API call that launched it, or of the launch of its graph
  correlation_id INTEGER NOT NULL,
  -- step; −1 outside of steps
  step INTEGER NOT NULL,
  -- phase; NULL if unknown or outside of phases
  phase_id INTEGER,
  -- scope path; NULL if unknown or outside of scopes
  scope_id INTEGER,
  -- how it was attributed: launch (scope of the launching thread), autograd (forward scope of the backward node), graph
  -- (by its CUDA graph node at capture), phase (no scope known) or none
  attribution TEXT NOT NULL,
  -- row of launch_config
  launch_config INTEGER NOT NULL,
  -- CUDA graph node id; NULL for an eager launch
  graph_node INTEGER,
  -- sequence of the row in op of the operator that launched it; NULL if operators were not recorded
  op INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A memory copy executed by a GPU.
CREATE TABLE memcpy (
  -- run the copy belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that issued it
  rank INTEGER NOT NULL,
  -- pass in which it ran
  pass TEXT NOT NULL,
  -- order by start time
  sequence INTEGER NOT NULL,
  -- its direction, such as `memcpy host to device`
  name_id INTEGER NOT NULL,
  -- size in bytes
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

-- A memset executed by a GPU.
CREATE TABLE memset (
  -- run the memset belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that issued it
  rank INTEGER NOT NULL,
  -- pass in which it ran
  pass TEXT NOT NULL,
  -- order by start time
  sequence INTEGER NOT NULL,
  -- `memset`
  name_id INTEGER NOT NULL,
  -- size in bytes
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

-- A CUDA API call.
CREATE TABLE api_call (
  -- run the call belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that made the call
  rank INTEGER NOT NULL,
  -- pass in which it was made
  pass TEXT NOT NULL,
  -- order by start time
  sequence INTEGER NOT NULL,
  -- function name
  name_id INTEGER NOT NULL,
  -- host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- end on the same clock
  end_ns INTEGER NOT NULL,
  -- operating system thread id
  thread INTEGER NOT NULL,
  -- CUPTI correlation id, shared with the kernels and copies that the call launched
  correlation_id INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A synchronization of the host with a GPU.
CREATE TABLE synchronization (
  -- run the synchronization belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that waited
  rank INTEGER NOT NULL,
  -- pass in which it occurred
  pass TEXT NOT NULL,
  -- order by start time
  sequence INTEGER NOT NULL,
  -- event, stream, stream event or context
  kind TEXT NOT NULL,
  -- host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- end on the same clock
  end_ns INTEGER NOT NULL,
  -- CUDA stream id; NULL if not specific to a stream
  stream INTEGER,
  -- CUPTI correlation id of the API call
  correlation_id INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- CUPTI overhead records: time spent in tracing itself (CUpti_ActivityOverhead).
CREATE TABLE cupti_overhead (
  -- run the overhead belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that was delayed
  rank INTEGER NOT NULL,
  -- pass in which it occurred
  pass TEXT NOT NULL,
  -- order by start time
  sequence INTEGER NOT NULL,
  -- cause: driver compiler, buffer flush, instrumentation, resource, lazy loading ...
  kind TEXT NOT NULL,
  -- host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- end on the same clock
  end_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- One call of a LibTorch operator.
CREATE TABLE op (
  -- run the call belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that made the call
  rank INTEGER NOT NULL,
  -- pass in which it was made
  pass TEXT NOT NULL,
  -- order by start time
  sequence INTEGER NOT NULL,
  -- sequence of the calling operator; NULL at the top level
  parent INTEGER,
  -- operator name such as aten::mm, or the name of a backward node
  name_id INTEGER NOT NULL,
  -- arguments such as f32[4, 256] f32[256] 1: tensors by type and size (an expanded dimension as 4*), lists of tensors
  -- in braces, integers, true, false and None; _ stands for other values. NULL if not requested
  shapes_id INTEGER,
  -- 1 for a node of the backward pass
  backward INTEGER NOT NULL,
  -- host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- end on the same clock; NULL if it did not end
  end_ns INTEGER,
  -- duration excluding the operators it called
  self_ns INTEGER NOT NULL,
  -- thread, numbered as in range
  thread INTEGER NOT NULL,
  -- autograd sequence number, shared by a forward operator and its backward node; NULL if it has none
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

-- Totals of kernels, copies and memsets in the measured steps, by phase, scope and name. Derived when the pass ends.
CREATE TABLE kernel_total (
  -- run the kernels belong to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that launched them
  rank INTEGER NOT NULL,
  -- pass in which they ran
  pass TEXT NOT NULL,
  -- row number without meaning
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
  -- number of measured steps in the totals
  steps INTEGER NOT NULL,
  -- number of executions
  calls INTEGER NOT NULL,
  -- bytes copied or set; 0 for kernels
  bytes INTEGER NOT NULL,
  -- sum of durations
  total_ns INTEGER NOT NULL,
  -- shortest duration
  min_ns INTEGER NOT NULL,
  -- longest duration
  max_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Totals of operators in the measured steps, by phase, scope and name. Derived when the pass ends.
CREATE TABLE op_total (
  -- run the operators belong to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that called them
  rank INTEGER NOT NULL,
  -- pass in which they ran
  pass TEXT NOT NULL,
  -- row number without meaning
  sequence INTEGER NOT NULL,
  -- as in kernel
  phase_id INTEGER,
  -- as in kernel
  scope_id INTEGER,
  -- as in op
  name_id INTEGER NOT NULL,
  -- as in op
  backward INTEGER NOT NULL,
  -- number of measured steps in the totals
  steps INTEGER NOT NULL,
  -- number of calls
  calls INTEGER NOT NULL,
  -- host time including called operators
  host_ns INTEGER NOT NULL,
  -- host time excluding called operators
  self_host_ns INTEGER NOT NULL,
  -- kernels, copies and memsets launched directly by the operators
  kernels INTEGER NOT NULL,
  -- sum of the durations of those kernels
  device_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- GPU activity of each phase, from the start of the first kernel launched in the phase to the start of the first kernel
-- of the next phase. The times of a step add up to its span: compute + communication − overlap + exposed copies + idle.
-- Derived when the pass ends.
CREATE TABLE step_activity (
  -- run the step belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that uses the GPU
  rank INTEGER NOT NULL,
  -- pass in which it ran
  pass TEXT NOT NULL,
  -- step number from 0, including warm-up steps
  step INTEGER NOT NULL,
  -- phase; `step` is the whole step, `other` work launched outside of phases
  phase TEXT NOT NULL,
  -- 1 for a warm-up step
  warmup INTEGER NOT NULL,
  -- start of the interval on the device, converted to the host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- end of the interval
  end_ns INTEGER NOT NULL,
  -- number of kernels, copies and memsets that started in the interval
  kernels INTEGER NOT NULL,
  -- sum of kernel durations; overlapping kernels count separately
  kernel_ns INTEGER NOT NULL,
  -- time during which a compute kernel (any kernel but communication) ran
  compute_ns INTEGER NOT NULL,
  -- time during which a communication kernel ran
  comm_ns INTEGER NOT NULL,
  -- time during which both ran
  overlap_ns INTEGER NOT NULL,
  -- time during which only communication ran
  exposed_comm_ns INTEGER NOT NULL,
  -- time during which a copy or memset ran
  copy_ns INTEGER NOT NULL,
  -- time during which a copy or memset ran and no kernel
  exposed_copy_ns INTEGER NOT NULL,
  -- time during which nothing ran
  idle_ns INTEGER NOT NULL,
  -- number of intervals during which nothing ran
  gaps INTEGER NOT NULL,
  -- longest such interval
  longest_gap_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, step, phase)
) WITHOUT ROWID;

-- A kernel call that took far longer than the other calls of its group: those with the same kernel name, launch
-- configuration and module. Derived when the pass ends.
CREATE TABLE kernel_outlier (
  -- run the call belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that launched it
  rank INTEGER NOT NULL,
  -- pass in which it ran
  pass TEXT NOT NULL,
  -- order by start time, as in kernel
  sequence INTEGER NOT NULL,
  -- as in kernel
  name_id INTEGER NOT NULL,
  -- as in kernel
  step INTEGER NOT NULL,
  -- as in kernel
  phase_id INTEGER,
  -- as in kernel
  scope_id INTEGER,
  -- duration of the call
  duration_ns INTEGER NOT NULL,
  -- number of calls in the group, including this one
  group_size INTEGER NOT NULL,
  -- median duration of the group
  group_median_ns INTEGER NOT NULL,
  -- distance from the median in median absolute deviations (MAD; at least 1 % of the median)
  deviation REAL NOT NULL,
  -- 1 if it was the first call of the kernel in the pass
  first_use INTEGER NOT NULL,
  -- number of kernels, copies and memsets that ran concurrently
  concurrent INTEGER NOT NULL,
  -- GPU idle time directly before the call
  gap_before_ns INTEGER NOT NULL,
  -- SM clock of the sample nearest in time; NULL if there is none
  sm_clock_mhz INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A block allocated by LibTorch's CUDA caching allocator or CPU allocator.
CREATE TABLE allocation (
  -- run the block belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that issued it
  rank INTEGER NOT NULL,
  -- pass in which it was requested
  pass TEXT NOT NULL,
  -- position of the allocation among all memory events of the pass
  sequence INTEGER NOT NULL,
  -- cuda or cpu
  device TEXT NOT NULL,
  -- start address; above 2^63 as a negative number
  address INTEGER NOT NULL,
  -- requested size
  requested_bytes INTEGER NOT NULL,
  -- size allocated for it, after rounding
  allocated_bytes INTEGER NOT NULL,
  -- time of the allocation, host clock, relative to the start of the run
  alloc_ns INTEGER NOT NULL,
  -- time of the free; NULL if the block was still allocated at the end of the pass
  free_ns INTEGER,
  -- when its memory became reusable: later than free_ns if another stream still used it
  reusable_ns INTEGER,
  -- position of the free among the memory events
  free_sequence INTEGER,
  -- position of reusable_ns among the memory events
  reusable_sequence INTEGER,
  -- CUDA stream id of the allocation; 0 is the default stream
  stream INTEGER NOT NULL,
  -- thread, numbered as in range
  thread INTEGER NOT NULL,
  -- step of the allocation; −1 outside of steps
  step INTEGER NOT NULL,
  -- phase of the allocation
  phase_id INTEGER,
  -- scope path of the allocation; the forward scope for a backward node
  scope_id INTEGER,
  -- step in which it was freed; NULL if it was not
  free_step INTEGER,
  -- phase in which it was freed
  free_phase_id INTEGER,
  -- innermost operator that requested it; NULL if there was none
  op_id INTEGER,
  -- parameter, gradient, optimizer_state, activation, workspace, input or unknown
  category TEXT NOT NULL,
  -- how the category was determined: tag (set by the workload), lifetime (allocated in an operator of the forward pass
  -- and alive after it; or allocated and freed within one operator), or empty
  category_source TEXT NOT NULL,
  -- number of the call stack in table stack; NULL if none was recorded
  stack INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A memory segment that the caching allocator obtained from the driver. A segment that was released in pieces has one
-- row per piece.
CREATE TABLE segment (
  -- run the segment belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that owns it
  rank INTEGER NOT NULL,
  -- pass in which it was taken
  pass TEXT NOT NULL,
  -- position of the allocation among the memory events
  sequence INTEGER NOT NULL,
  -- start address
  address INTEGER NOT NULL,
  -- size in bytes
  bytes INTEGER NOT NULL,
  -- CUDA stream id the segment serves
  stream INTEGER NOT NULL,
  -- when it was obtained from the driver
  alloc_ns INTEGER NOT NULL,
  -- when it was released to the driver; NULL if it was not
  free_ns INTEGER,
  -- position of the free among the memory events
  free_sequence INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence, address)
) WITHOUT ROWID;

-- A point of the memory timeline: the allocator's counters after a memory event. Points between which no counter
-- changes much are omitted; the maximum of each counter in each phase is always kept.
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
  -- allocated bytes of live blocks of this category
  parameter_bytes INTEGER NOT NULL,
  -- allocated bytes of live blocks of this category
  gradient_bytes INTEGER NOT NULL,
  -- allocated bytes of live blocks of this category
  optimizer_state_bytes INTEGER NOT NULL,
  -- allocated bytes of live blocks of this category
  activation_bytes INTEGER NOT NULL,
  -- allocated bytes of live blocks of this category
  workspace_bytes INTEGER NOT NULL,
  -- allocated bytes of live blocks of this category
  input_bytes INTEGER NOT NULL,
  -- allocated bytes of live blocks of this category
  unknown_bytes INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Peaks of the memory counters within each phase of each step, with the live memory by category at the allocated peak.
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
  -- allocated bytes of live blocks of this category at the allocated peak
  parameter_bytes INTEGER NOT NULL,
  -- allocated bytes of live blocks of this category at the allocated peak
  gradient_bytes INTEGER NOT NULL,
  -- allocated bytes of live blocks of this category at the allocated peak
  optimizer_state_bytes INTEGER NOT NULL,
  -- allocated bytes of live blocks of this category at the allocated peak
  activation_bytes INTEGER NOT NULL,
  -- allocated bytes of live blocks of this category at the allocated peak
  workspace_bytes INTEGER NOT NULL,
  -- allocated bytes of live blocks of this category at the allocated peak
  input_bytes INTEGER NOT NULL,
  -- allocated bytes of live blocks of this category at the allocated peak
  unknown_bytes INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, device, step, phase)
) WITHOUT ROWID;

-- A reading of the memory in use on the whole GPU, by all processes.
CREATE TABLE device_memory (
  -- run the reading belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that uses the device
  rank INTEGER NOT NULL,
  -- pass in which it was taken
  pass TEXT NOT NULL,
  -- order within the pass
  sequence INTEGER NOT NULL,
  -- host clock, relative to the start of the run
  time_ns INTEGER NOT NULL,
  -- before cuda, context created, prepared, after step or end; empty for periodic readings in between
  stage TEXT NOT NULL,
  -- step; −1 outside of steps
  step INTEGER NOT NULL,
  -- in use on the device
  used_bytes INTEGER NOT NULL,
  -- in use by this process; NULL if the driver does not report it
  process_bytes INTEGER,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- One frame of a call stack.
CREATE TABLE stack (
  -- run the stack belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank on which it was recorded
  rank INTEGER NOT NULL,
  -- pass in which it was taken
  pass TEXT NOT NULL,
  -- number of the stack
  stack INTEGER NOT NULL,
  -- 0 is the innermost frame
  depth INTEGER NOT NULL,
  -- row of stack_frame
  frame INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, stack, depth)
) WITHOUT ROWID;

-- A code address that occurs in call stacks.
CREATE TABLE stack_frame (
  -- run the frame belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank on which it was recorded
  rank INTEGER NOT NULL,
  -- pass in which it was recorded
  pass TEXT NOT NULL,
  -- number of the frame
  frame INTEGER NOT NULL,
  -- file name of the library
  module TEXT NOT NULL,
  -- offset of the address within the library
  "offset" INTEGER NOT NULL,
  -- function name; NULL if the library has no symbol for it
  function_id INTEGER,
  PRIMARY KEY (run_id, rank, pass, frame)
) WITHOUT ROWID;

-- A comparison of a device clock with the host clock, at the beginning and end of a pass.
CREATE TABLE clock_sync (
  -- run the clocks belong to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that compared
  rank INTEGER NOT NULL,
  -- pass in which it was made
  pass TEXT NOT NULL,
  -- order within the pass
  sequence INTEGER NOT NULL,
  -- name of the other clock
  clock TEXT NOT NULL,
  -- host clock, relative to the start of the run
  host_ns INTEGER NOT NULL,
  -- the other clock at the same time
  clock_ns INTEGER NOT NULL,
  -- bound on the error of the comparison
  error_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Profiling overhead: the median step of a pass compared with that of the time pass of the same run. Derived when the
-- run ends.
CREATE TABLE overhead (
  -- run the overhead belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank it was measured on
  rank INTEGER NOT NULL,
  -- the profiled pass
  pass TEXT NOT NULL,
  -- as in sample
  phase TEXT NOT NULL,
  -- measured steps of the profiled pass
  steps INTEGER NOT NULL,
  -- median host time in the profiled pass
  observed_ns REAL NOT NULL,
  -- median host time in the time pass
  time_ns REAL NOT NULL,
  -- observed_ns / time_ns
  ratio REAL NOT NULL,
  PRIMARY KEY (run_id, rank, pass, phase)
) WITHOUT ROWID;

-- A collective call of one rank: recorded from its kernels if it runs on a CUDA stream, otherwise as reported by the
-- plugin. Times of different ranks are aligned by the clock_sync rows of the clock `supervisor`.
CREATE TABLE collective (
  -- run the call belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that made the call
  rank INTEGER NOT NULL,
  -- pass in which it was made
  pass TEXT NOT NULL,
  -- order of the calls on this rank
  sequence INTEGER NOT NULL,
  -- name of the communicator, in table string
  communicator_id INTEGER NOT NULL,
  -- number of the call within its communicator, the same on all ranks
  call_number INTEGER NOT NULL,
  -- all_reduce, reduce_scatter, all_gather, broadcast or barrier
  operation TEXT NOT NULL,
  -- bytes of this rank's message
  bytes INTEGER NOT NULL,
  -- 1 if it was enqueued on a CUDA stream
  on_device INTEGER NOT NULL,
  -- time of the call, host clock, relative to the start of the run
  enqueue_ns INTEGER NOT NULL,
  -- when the call returned: enqueued on the GPU, or completed; NULL if it did not return
  returned_ns INTEGER,
  -- when the operation started on this rank; NULL if unknown
  start_ns INTEGER,
  -- when the operation completed on this rank; NULL if unknown
  end_ns INTEGER,
  -- number of kernels that executed it; the calls of a group share their kernels
  kernels INTEGER NOT NULL,
  -- step of the call; −1 outside of steps
  step INTEGER NOT NULL,
  -- phase of the call
  phase_id INTEGER,
  -- scope path; the forward scope for a backward node
  scope_id INTEGER,
  -- as in kernel
  attribution TEXT NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;
