-- SPDX-License-Identifier: Apache-2.0
-- The tables of the main job: invocations, runs, samples and what is known about how far to trust them.
-- The comment above each table and behind each column is its documentation: docs/schema.md is generated from them.

-- Facts about the database itself.
CREATE TABLE meta (
  -- schema_version, compatible_version (oldest schema whose tools can still use the file), kymo_version, views (names,
  -- by commas), views_digest
  key TEXT NOT NULL PRIMARY KEY,
  -- the fact
  value TEXT NOT NULL
) WITHOUT ROWID;

-- One call of `kymo run` or `kymo suite run`.
CREATE TABLE invocation (
  -- number within this database
  invocation_id INTEGER PRIMARY KEY,
  -- identity across databases: what merge goes by
  uuid TEXT NOT NULL UNIQUE,
  -- the command line
  command TEXT NOT NULL,
  -- wall-clock time in UTC, ISO 8601
  started_at TEXT NOT NULL,
  -- NULL while it works, or if it was killed
  ended_at TEXT,
  -- exit code of the tool; NULL as above
  exit_code INTEGER
);

-- One fact of the machine that an invocation ran on.
CREATE TABLE environment (
  -- whose machine
  invocation_id INTEGER NOT NULL REFERENCES invocation,
  -- host, cpu, kernel, driver, torch, cuda, variables that matter ...
  name TEXT NOT NULL,
  -- the fact
  value TEXT NOT NULL,
  PRIMARY KEY (invocation_id, name)
) WITHOUT ROWID;

-- A plugin library, identified by its content.
CREATE TABLE plugin (
  -- number within this database
  plugin_id INTEGER PRIMARY KEY,
  -- as the plugin calls itself
  name TEXT NOT NULL,
  -- as the plugin calls itself
  version TEXT NOT NULL,
  -- where it was loaded from
  file TEXT NOT NULL,
  -- hash of the file
  sha256 TEXT NOT NULL UNIQUE,
  -- libtorch, or empty
  framework TEXT NOT NULL,
  -- version it was built for
  framework_version TEXT NOT NULL,
  -- CUDA version it was built for, or empty
  cuda_version TEXT NOT NULL,
  -- compiler it was built with
  compiler TEXT NOT NULL
);

-- A GPU, or the CPU of a machine.
CREATE TABLE device (
  -- number within this database
  device_id INTEGER PRIMARY KEY,
  -- of the GPU; for a CPU a hash of host, model and core count
  uuid TEXT NOT NULL UNIQUE,
  -- cpu or cuda
  kind TEXT NOT NULL,
  -- model
  name TEXT NOT NULL,
  -- total memory
  memory_bytes INTEGER NOT NULL,
  -- streaming multiprocessors; for a CPU its cores
  multiprocessors INTEGER,
  -- highest clock; NULL if unknown
  max_sm_clock_mhz INTEGER,
  -- highest memory clock; NULL if unknown
  max_memory_clock_mhz INTEGER
);

-- One execution of one case.
CREATE TABLE run (
  -- number within this database
  run_id INTEGER PRIMARY KEY,
  -- the call that made it
  invocation_id INTEGER NOT NULL REFERENCES invocation,
  -- 0, 1, 2 ... in the order its invocation began them; with the invocation's uuid its identity across databases
  sequence INTEGER NOT NULL,
  -- the library that holds the workload
  plugin_id INTEGER NOT NULL REFERENCES plugin,
  -- name of the workload
  workload TEXT NOT NULL,
  -- hash of workload, parameters, ranks and device kind: what is compared
  case_key TEXT NOT NULL,
  -- hash of the case, how it is measured and the plugin: what makes runs repetitions
  plan_key TEXT NOT NULL,
  -- name of the suite, or empty
  suite TEXT NOT NULL,
  -- name of the case within the suite, or empty
  suite_case TEXT NOT NULL,
  -- --label, or empty
  label TEXT NOT NULL,
  -- 0, 1, 2 ... of --repeat
  repetition INTEGER NOT NULL,
  -- processes
  ranks INTEGER NOT NULL,
  -- cpu or cuda
  device_kind TEXT NOT NULL,
  -- how steps were timed: sync
  mode TEXT NOT NULL,
  -- where the host waits for the device: step or phase
  sync TEXT NOT NULL,
  -- warm-up steps
  warmup INTEGER NOT NULL,
  -- planned steps; 0 if a stopping rule decided
  steps INTEGER NOT NULL,
  -- relative standard error at which a stopping rule ends the steps; NULL without one
  until_relative_error REAL,
  -- passes that were asked for, by commas
  passes TEXT NOT NULL,
  -- seed of parameters and batches
  seed INTEGER NOT NULL,
  -- running, ok, oom, failed, crashed, timeout, interrupted or skipped
  status TEXT NOT NULL,
  -- why it is not ok, in one line
  detail TEXT NOT NULL,
  -- passed, failed, unavailable, or empty if not asked for
  verification TEXT NOT NULL,
  -- of the worker that failed first, if it exited
  exit_code INTEGER,
  -- that ended the worker that failed first
  signal INTEGER,
  -- rank that failed first
  failed_rank INTEGER,
  -- pass it was in, or empty
  failed_pass TEXT NOT NULL,
  -- phase or stage it was in, or empty
  failed_phase TEXT NOT NULL,
  -- step it was in
  failed_step INTEGER,
  -- wall-clock time in UTC, ISO 8601
  started_at TEXT NOT NULL,
  -- NULL while running
  ended_at TEXT
);
CREATE INDEX run_by_plan ON run (plan_key);
CREATE UNIQUE INDEX run_by_invocation ON run (invocation_id, sequence);

-- A column of type BLOB keeps each value in the type that it comes in, as one without a type does, which sqruff cannot
-- parse.

-- One parameter of a run.
CREATE TABLE param (
  -- whose parameter
  run_id INTEGER NOT NULL REFERENCES run,
  -- name of the parameter
  name TEXT NOT NULL,
  -- int, real, bool or text
  type TEXT NOT NULL,
  -- its value in SQLite's own type; bool as 0 or 1
  value BLOB NOT NULL,
  PRIMARY KEY (run_id, name)
) WITHOUT ROWID;

-- One worker process: a rank of a run in one pass.
CREATE TABLE rank (
  -- whose worker
  run_id INTEGER NOT NULL REFERENCES run,
  -- 0 ... ranks − 1
  rank INTEGER NOT NULL,
  -- time, verify, memory, trace or ops
  pass TEXT NOT NULL,
  -- process id on its host; 0 if unknown
  pid INTEGER NOT NULL,
  -- name of the machine; empty if unknown
  host TEXT NOT NULL,
  -- how this worker ended; empty if its supervisor was killed before it knew
  status TEXT NOT NULL,
  -- device it used; NULL if it never got that far
  device_id INTEGER REFERENCES device,
  -- highest resident size of the process
  resident_peak_bytes INTEGER,
  -- highest size handed out by the caching allocator
  allocated_peak_bytes INTEGER,
  -- highest size held by the caching allocator
  reserved_peak_bytes INTEGER,
  -- what it printed, bounded; its end says how much was cut
  stdout TEXT NOT NULL,
  -- the same for its standard error
  stderr TEXT NOT NULL,
  PRIMARY KEY (run_id, rank, pass)
) WITHOUT ROWID;

-- Time of one phase, or of the whole step, in one step of one rank.
CREATE TABLE sample (
  -- whose sample
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that measured it
  rank INTEGER NOT NULL,
  -- pass it was measured in
  pass TEXT NOT NULL,
  -- counts from 0, warm-up steps included
  step INTEGER NOT NULL,
  -- name of the phase; `step` is the whole step, `other` what the phases leave out
  phase TEXT NOT NULL,
  -- 1 for a warm-up step, which no statistic uses
  warmup INTEGER NOT NULL,
  -- 1 if heat or hardware slowed the GPU, or its clock was below 75 % of the median of its pass
  throttled INTEGER NOT NULL,
  -- how often the phase was entered
  calls INTEGER NOT NULL,
  -- host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- elapsed on the host clock
  host_ns INTEGER NOT NULL,
  -- elapsed between events on the device; NULL on a CPU
  device_ns INTEGER,
  PRIMARY KEY (run_id, rank, pass, step, phase)
) WITHOUT ROWID;

-- Time of one phase, or of the whole step, in one step of a run's time pass: that of the slowest rank. Derived from
-- sample when the run ends.
CREATE TABLE step_duration (
  -- whose step
  run_id INTEGER NOT NULL REFERENCES run,
  -- as in sample
  phase TEXT NOT NULL,
  -- counts from 0, warm-up steps included
  step INTEGER NOT NULL,
  -- 1 for a warm-up step
  warmup INTEGER NOT NULL,
  -- 1 if some rank was throttled
  throttled INTEGER NOT NULL,
  -- ranks that measured it
  ranks INTEGER NOT NULL,
  -- elapsed on the host clock
  host_ns INTEGER NOT NULL,
  -- elapsed on the device; NULL if some rank has no such time
  device_ns INTEGER,
  PRIMARY KEY (run_id, phase, step)
) WITHOUT ROWID;

-- Summary of the step durations of one phase of a run; a step counts once every rank has finished it.
CREATE TABLE statistic (
  -- whose summary
  run_id INTEGER NOT NULL REFERENCES run,
  -- as in sample
  phase TEXT NOT NULL,
  -- host or device: the clock the samples were taken on
  clock TEXT NOT NULL,
  -- samples that count
  count INTEGER NOT NULL,
  -- samples left out as throttled
  excluded INTEGER NOT NULL,
  -- 1 if every sample was throttled, and so all were kept
  all_throttled INTEGER NOT NULL,
  -- arithmetic mean
  mean_ns REAL NOT NULL,
  -- sample standard deviation; NULL for one sample
  std_ns REAL,
  -- median
  median_ns REAL NOT NULL,
  -- smallest
  min_ns REAL NOT NULL,
  -- largest
  max_ns REAL NOT NULL,
  -- lower end of the 95 % confidence interval of the mean
  ci_low_ns REAL,
  -- upper end
  ci_high_ns REAL,
  -- 95th percentile; NULL below 100 samples
  p95_ns REAL,
  PRIMARY KEY (run_id, phase, clock)
) WITHOUT ROWID;

-- A figure that the workload reported itself.
CREATE TABLE metric (
  -- whose figure
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that reported it
  rank INTEGER NOT NULL,
  -- pass it was reported in
  pass TEXT NOT NULL,
  -- order of reporting
  sequence INTEGER NOT NULL,
  -- run, step or phase
  level TEXT NOT NULL,
  -- −1 for a figure of the run
  step INTEGER NOT NULL,
  -- empty unless of a phase
  phase TEXT NOT NULL,
  -- name of the figure
  name TEXT NOT NULL,
  -- number or text
  value BLOB,
  -- unit of a number
  unit TEXT NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- What one step's phase does, by count, as the workload declared it; the time pass's word counts, or else that of the
-- first pass that has one.
CREATE TABLE work (
  -- whose work
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that does it
  rank INTEGER NOT NULL,
  -- name of the phase
  phase TEXT NOT NULL,
  -- floating-point operations; 0 = not declared
  flops REAL NOT NULL,
  -- bytes moved; 0 = not declared
  bytes REAL NOT NULL,
  PRIMARY KEY (run_id, rank, phase)
) WITHOUT ROWID;

-- One comparison of a workload's result with a reference.
CREATE TABLE verification (
  -- whose result
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that compared
  rank INTEGER NOT NULL,
  -- what was compared
  name TEXT NOT NULL,
  -- passed, failed or unavailable
  outcome TEXT NOT NULL,
  -- largest absolute difference
  max_abs_error REAL,
  -- largest relative difference
  max_rel_error REAL,
  -- what is admitted
  tolerance REAL,
  -- what it was compared with
  reference TEXT NOT NULL,
  -- why it failed or was not possible
  detail TEXT NOT NULL,
  PRIMARY KEY (run_id, rank, name)
) WITHOUT ROWID;

-- A reading of the GPU beside a step.
CREATE TABLE gpu_sample (
  -- whose reading
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank whose device it is
  rank INTEGER NOT NULL,
  -- pass it was taken in
  pass TEXT NOT NULL,
  -- step it was taken after
  step INTEGER NOT NULL,
  -- host clock, relative to the start of the run
  time_ns INTEGER NOT NULL,
  -- clock of the multiprocessors
  sm_clock_mhz INTEGER,
  -- clock of the memory
  memory_clock_mhz INTEGER,
  -- power draw
  power_mw INTEGER,
  -- temperature of the chip
  temperature_c INTEGER,
  -- NVML's bit mask of reasons for a lower clock
  throttle_reasons INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, step)
) WITHOUT ROWID;

-- A reading of LibTorch's caching allocator on the GPU, taken after a step, outside its timed stretch.
CREATE TABLE memory_counter (
  -- whose reading
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank whose allocator it is
  rank INTEGER NOT NULL,
  -- pass it was taken in
  pass TEXT NOT NULL,
  -- step it was taken after; −1 before the first
  step INTEGER NOT NULL,
  -- host clock, relative to the start of the run
  time_ns INTEGER NOT NULL,
  -- handed out at that moment
  allocated_bytes INTEGER NOT NULL,
  -- held at that moment
  reserved_bytes INTEGER NOT NULL,
  -- requests for memory that the allocator sent to the driver since the pass began
  device_allocations INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, step)
) WITHOUT ROWID;

-- A named moment that the workload marked, or the end of one of the worker's own stages: those names begin with
-- `worker: `.
CREATE TABLE mark (
  -- whose moment
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that marked it
  rank INTEGER NOT NULL,
  -- pass it happened in
  pass TEXT NOT NULL,
  -- order
  sequence INTEGER NOT NULL,
  -- name of the moment
  name TEXT NOT NULL,
  -- host clock, relative to the start of the run: that of the worker process for its first pass, of the assignment for
  -- a reused worker
  time_ns INTEGER NOT NULL,
  -- −1 outside a step
  step INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A request for memory that could not be met.
CREATE TABLE out_of_memory (
  -- whose request
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that asked; −1 if the supervisor saw it of none in particular
  rank INTEGER NOT NULL,
  -- pass it happened in
  pass TEXT NOT NULL,
  -- host or device
  place TEXT NOT NULL,
  -- size asked for; NULL if unknown
  requested_bytes INTEGER,
  -- free at that moment; NULL if unknown
  free_bytes INTEGER,
  -- highest size in use before; NULL if unknown
  peak_bytes INTEGER,
  PRIMARY KEY (run_id, rank, pass)
) WITHOUT ROWID;

-- Facts known to be missing.
CREATE TABLE loss (
  -- whose facts
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank they are missing of; −1 for the whole run
  rank INTEGER NOT NULL,
  -- pass they are missing of, or empty
  pass TEXT NOT NULL,
  -- order
  sequence INTEGER NOT NULL,
  -- collector or part of the tool that lost them
  source TEXT NOT NULL,
  -- how many; −1 if unknown
  count INTEGER NOT NULL,
  -- what and why
  detail TEXT NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;
