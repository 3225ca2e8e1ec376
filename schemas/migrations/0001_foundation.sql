-- SPDX-License-Identifier: Apache-2.0
-- The tables of the main job: invocations, runs, samples and what is known about how far to trust them.
-- The comment above each table and behind each column is its documentation: docs/schema.md is generated from them.

-- Facts about the database itself.
CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY,  -- schema_version, compatible_version (oldest schema whose tools can still use the file), kymo_version, views (names, by commas), views_digest
  value TEXT NOT NULL             -- the fact
) WITHOUT ROWID;

-- One call of `kymo run` or `kymo suite run`.
CREATE TABLE invocation (
  invocation_id INTEGER PRIMARY KEY,  -- number within this database
  uuid TEXT NOT NULL UNIQUE,          -- identity across databases: what merge goes by
  command TEXT NOT NULL,              -- the command line
  started_at TEXT NOT NULL,           -- wall-clock time in UTC, ISO 8601
  ended_at TEXT,                      -- NULL while it works, or if it was killed
  exit_code INTEGER                   -- exit code of the tool; NULL as above
);

-- One fact of the machine that an invocation ran on.
CREATE TABLE environment (
  invocation_id INTEGER NOT NULL REFERENCES invocation,  -- whose machine
  name TEXT NOT NULL,                                    -- host, cpu, kernel, driver, torch, cuda, variables that matter ...
  value TEXT NOT NULL,                                   -- the fact
  PRIMARY KEY (invocation_id, name)
) WITHOUT ROWID;

-- A plugin library, identified by its content.
CREATE TABLE plugin (
  plugin_id INTEGER PRIMARY KEY,    -- number within this database
  name TEXT NOT NULL,               -- as the plugin calls itself
  version TEXT NOT NULL,            -- as the plugin calls itself
  file TEXT NOT NULL,               -- where it was loaded from
  sha256 TEXT NOT NULL UNIQUE,      -- hash of the file
  framework TEXT NOT NULL,          -- libtorch, or empty
  framework_version TEXT NOT NULL,  -- version it was built for
  cuda_version TEXT NOT NULL,       -- CUDA version it was built for, or empty
  compiler TEXT NOT NULL            -- compiler it was built with
);

-- A GPU, or the CPU of a machine.
CREATE TABLE device (
  device_id INTEGER PRIMARY KEY,    -- number within this database
  uuid TEXT NOT NULL UNIQUE,        -- of the GPU; for a CPU a hash of host, model and core count
  kind TEXT NOT NULL,               -- cpu or cuda
  name TEXT NOT NULL,               -- model
  memory_bytes INTEGER NOT NULL,    -- total memory
  multiprocessors INTEGER,          -- streaming multiprocessors; for a CPU its cores
  max_sm_clock_mhz INTEGER,         -- highest clock; NULL if unknown
  max_memory_clock_mhz INTEGER      -- highest memory clock; NULL if unknown
);

-- One execution of one case.
CREATE TABLE run (
  run_id INTEGER PRIMARY KEY,                            -- number within this database
  invocation_id INTEGER NOT NULL REFERENCES invocation,  -- the call that made it
  sequence INTEGER NOT NULL,    -- 0, 1, 2 ... in the order its invocation began them; with the invocation's uuid its identity across databases
  plugin_id INTEGER NOT NULL REFERENCES plugin,          -- the library that holds the workload
  workload TEXT NOT NULL,       -- name of the workload
  case_key TEXT NOT NULL,       -- hash of workload, parameters, ranks and device kind: what is compared
  plan_key TEXT NOT NULL,       -- hash of the case, how it is measured and the plugin: what makes runs repetitions
  suite TEXT NOT NULL,          -- name of the suite, or empty
  suite_case TEXT NOT NULL,     -- name of the case within the suite, or empty
  label TEXT NOT NULL,          -- --label, or empty
  repetition INTEGER NOT NULL,  -- 0, 1, 2 ... of --repeat
  ranks INTEGER NOT NULL,       -- processes
  device_kind TEXT NOT NULL,    -- cpu or cuda
  mode TEXT NOT NULL,           -- how steps were timed: sync
  sync TEXT NOT NULL,           -- where the host waits for the device: step or phase
  warmup INTEGER NOT NULL,      -- warm-up steps
  steps INTEGER NOT NULL,       -- planned steps; 0 if a stopping rule decided
  until_relative_error REAL,    -- relative standard error at which a stopping rule ends the steps; NULL without one
  passes TEXT NOT NULL,         -- passes that were asked for, by commas
  seed INTEGER NOT NULL,        -- seed of parameters and batches
  status TEXT NOT NULL,         -- running, ok, oom, failed, crashed, timeout, interrupted or skipped
  detail TEXT NOT NULL,         -- why it is not ok, in one line
  verification TEXT NOT NULL,   -- passed, failed, unavailable, or empty if not asked for
  exit_code INTEGER,            -- of the worker that failed first, if it exited
  signal INTEGER,               -- that ended the worker that failed first
  failed_rank INTEGER,          -- rank that failed first
  failed_pass TEXT NOT NULL,    -- pass it was in, or empty
  failed_phase TEXT NOT NULL,   -- phase or stage it was in, or empty
  failed_step INTEGER,          -- step it was in
  started_at TEXT NOT NULL,     -- wall-clock time in UTC, ISO 8601
  ended_at TEXT                 -- NULL while running
);
CREATE INDEX run_by_plan ON run (plan_key);
CREATE UNIQUE INDEX run_by_invocation ON run (invocation_id, sequence);

-- One parameter of a run.
CREATE TABLE param (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose parameter
  name TEXT NOT NULL,                      -- name of the parameter
  type TEXT NOT NULL,                      -- int, real, bool or text
  value NOT NULL,                          -- its value in SQLite's own type; bool as 0 or 1
  PRIMARY KEY (run_id, name)
) WITHOUT ROWID;

-- One worker process: a rank of a run in one pass.
CREATE TABLE rank (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose worker
  rank INTEGER NOT NULL,                   -- 0 ... ranks − 1
  pass TEXT NOT NULL,                      -- time, verify, memory, trace or ops
  pid INTEGER NOT NULL,                    -- process id on its host; 0 if unknown
  host TEXT NOT NULL,                      -- name of the machine; empty if unknown
  status TEXT NOT NULL,                    -- how this worker ended; empty if its supervisor was killed before it knew
  device_id INTEGER REFERENCES device,     -- device it used; NULL if it never got that far
  resident_peak_bytes INTEGER,             -- highest resident size of the process
  allocated_peak_bytes INTEGER,            -- highest size handed out by the caching allocator
  reserved_peak_bytes INTEGER,             -- highest size held by the caching allocator
  stdout TEXT NOT NULL,                    -- what it printed, bounded; its end says how much was cut
  stderr TEXT NOT NULL,                    -- the same for its standard error
  PRIMARY KEY (run_id, rank, pass)
) WITHOUT ROWID;

-- Time of one phase, or of the whole step, in one step of one rank.
CREATE TABLE sample (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose sample
  rank INTEGER NOT NULL,                   -- rank that measured it
  pass TEXT NOT NULL,                      -- pass it was measured in
  step INTEGER NOT NULL,                   -- counts from 0, warm-up steps included
  phase TEXT NOT NULL,                     -- name of the phase; `step` is the whole step, `other` what the phases leave out
  warmup INTEGER NOT NULL,                 -- 1 for a warm-up step, which no statistic uses
  throttled INTEGER NOT NULL,              -- 1 if heat or hardware slowed the GPU, or its clock was below 75 % of the median of its pass
  calls INTEGER NOT NULL,                  -- how often the phase was entered
  start_ns INTEGER NOT NULL,               -- host clock, relative to the start of the run
  host_ns INTEGER NOT NULL,                -- elapsed on the host clock
  device_ns INTEGER,                       -- elapsed between events on the device; NULL on a CPU
  PRIMARY KEY (run_id, rank, pass, step, phase)
) WITHOUT ROWID;

-- Time of one phase, or of the whole step, in one step of a run's time pass: that of the slowest rank. Derived from sample when the run ends.
CREATE TABLE step_duration (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose step
  phase TEXT NOT NULL,                     -- as in sample
  step INTEGER NOT NULL,                   -- counts from 0, warm-up steps included
  warmup INTEGER NOT NULL,                 -- 1 for a warm-up step
  throttled INTEGER NOT NULL,              -- 1 if some rank was throttled
  ranks INTEGER NOT NULL,                  -- ranks that measured it
  host_ns INTEGER NOT NULL,                -- elapsed on the host clock
  device_ns INTEGER,                       -- elapsed on the device; NULL if some rank has no such time
  PRIMARY KEY (run_id, phase, step)
) WITHOUT ROWID;

-- Summary of the step durations of one phase of a run; a step counts once every rank has finished it.
CREATE TABLE statistic (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose summary
  phase TEXT NOT NULL,                     -- as in sample
  clock TEXT NOT NULL,                     -- host or device: the clock the samples were taken on
  count INTEGER NOT NULL,                  -- samples that count
  excluded INTEGER NOT NULL,               -- samples left out as throttled
  all_throttled INTEGER NOT NULL,          -- 1 if every sample was throttled, and so all were kept
  mean_ns REAL NOT NULL,                   -- arithmetic mean
  std_ns REAL,                             -- sample standard deviation; NULL for one sample
  median_ns REAL NOT NULL,                 -- median
  min_ns REAL NOT NULL,                    -- smallest
  max_ns REAL NOT NULL,                    -- largest
  ci_low_ns REAL,                          -- lower end of the 95 % confidence interval of the mean
  ci_high_ns REAL,                         -- upper end
  p95_ns REAL,                             -- 95th percentile; NULL below 100 samples
  PRIMARY KEY (run_id, phase, clock)
) WITHOUT ROWID;

-- A figure that the workload reported itself.
CREATE TABLE metric (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose figure
  rank INTEGER NOT NULL,                   -- rank that reported it
  pass TEXT NOT NULL,                      -- pass it was reported in
  sequence INTEGER NOT NULL,               -- order of reporting
  level TEXT NOT NULL,                     -- run, step or phase
  step INTEGER NOT NULL,                   -- −1 for a figure of the run
  phase TEXT NOT NULL,                     -- empty unless of a phase
  name TEXT NOT NULL,                      -- name of the figure
  value,                                   -- number or text
  unit TEXT NOT NULL,                      -- unit of a number
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- What one step's phase does, by count, as the workload declared it; the time pass's word counts, or else that of the first pass that has one.
CREATE TABLE work (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose work
  rank INTEGER NOT NULL,                   -- rank that does it
  phase TEXT NOT NULL,                     -- name of the phase
  flops REAL NOT NULL,                     -- floating-point operations; 0 = not declared
  bytes REAL NOT NULL,                     -- bytes moved; 0 = not declared
  PRIMARY KEY (run_id, rank, phase)
) WITHOUT ROWID;

-- One comparison of a workload's result with a reference.
CREATE TABLE verification (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose result
  rank INTEGER NOT NULL,                   -- rank that compared
  name TEXT NOT NULL,                      -- what was compared
  outcome TEXT NOT NULL,                   -- passed, failed or unavailable
  max_abs_error REAL,                      -- largest absolute difference
  max_rel_error REAL,                      -- largest relative difference
  tolerance REAL,                          -- what is admitted
  reference TEXT NOT NULL,                 -- what it was compared with
  detail TEXT NOT NULL,                    -- why it failed or was not possible
  PRIMARY KEY (run_id, rank, name)
) WITHOUT ROWID;

-- A reading of the GPU beside a step.
CREATE TABLE gpu_sample (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose reading
  rank INTEGER NOT NULL,                   -- rank whose device it is
  pass TEXT NOT NULL,                      -- pass it was taken in
  step INTEGER NOT NULL,                   -- step it was taken after
  time_ns INTEGER NOT NULL,                -- host clock, relative to the start of the run
  sm_clock_mhz INTEGER,                    -- clock of the multiprocessors
  memory_clock_mhz INTEGER,                -- clock of the memory
  power_mw INTEGER,                        -- power draw
  temperature_c INTEGER,                   -- temperature of the chip
  throttle_reasons INTEGER NOT NULL,       -- NVML's bit mask of reasons for a lower clock
  PRIMARY KEY (run_id, rank, pass, step)
) WITHOUT ROWID;

-- A reading of LibTorch's caching allocator on the GPU, taken after a step, outside its timed stretch.
CREATE TABLE memory_counter (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose reading
  rank INTEGER NOT NULL,                   -- rank whose allocator it is
  pass TEXT NOT NULL,                      -- pass it was taken in
  step INTEGER NOT NULL,                   -- step it was taken after; −1 before the first
  time_ns INTEGER NOT NULL,                -- host clock, relative to the start of the run
  allocated_bytes INTEGER NOT NULL,        -- handed out at that moment
  reserved_bytes INTEGER NOT NULL,         -- held at that moment
  device_allocations INTEGER NOT NULL,     -- requests for memory that the allocator sent to the driver since the pass began
  PRIMARY KEY (run_id, rank, pass, step)
) WITHOUT ROWID;

-- A named moment that the workload marked, or the end of one of the worker's own stages: those names begin with `worker: `.
CREATE TABLE mark (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose moment
  rank INTEGER NOT NULL,                   -- rank that marked it
  pass TEXT NOT NULL,                      -- pass it happened in
  sequence INTEGER NOT NULL,               -- order
  name TEXT NOT NULL,                      -- name of the moment
  time_ns INTEGER NOT NULL,                -- host clock, relative to the start of the run: that of the worker process for its first pass, of the assignment for a reused worker
  step INTEGER NOT NULL,                   -- −1 outside a step
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- A request for memory that could not be met.
CREATE TABLE out_of_memory (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose request
  rank INTEGER NOT NULL,                   -- rank that asked; −1 if the supervisor saw it of none in particular
  pass TEXT NOT NULL,                      -- pass it happened in
  place TEXT NOT NULL,                     -- host or device
  requested_bytes INTEGER,                 -- size asked for; NULL if unknown
  free_bytes INTEGER,                      -- free at that moment; NULL if unknown
  peak_bytes INTEGER,                      -- highest size in use before; NULL if unknown
  PRIMARY KEY (run_id, rank, pass)
) WITHOUT ROWID;

-- Facts known to be missing.
CREATE TABLE loss (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose facts
  rank INTEGER NOT NULL,                   -- rank they are missing of; −1 for the whole run
  pass TEXT NOT NULL,                      -- pass they are missing of, or empty
  sequence INTEGER NOT NULL,               -- order
  source TEXT NOT NULL,                    -- collector or part of the tool that lost them
  count INTEGER NOT NULL,                  -- how many; −1 if unknown
  detail TEXT NOT NULL,                    -- what and why
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;
