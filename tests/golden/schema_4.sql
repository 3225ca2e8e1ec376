-- SPDX-License-Identifier: Apache-2.0
-- A results database as schema 4 left it. Never change it: every later tool must open it.
PRAGMA page_size = 8192;
PRAGMA application_id = 1803119983;
PRAGMA user_version = 4;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY,  -- schema_version, compatible_version (oldest schema whose tools can still use the file), kymo_version, views (names, by commas), views_digest
  value TEXT NOT NULL             -- the fact
) WITHOUT ROWID;
INSERT INTO meta VALUES('compatible_version','1');
INSERT INTO meta VALUES('kymo_version','0.1.0');
INSERT INTO meta VALUES('schema_version','4');
INSERT INTO meta VALUES('views','launch_gap,step_span,outlier_call,device_peak,attention_run,attention_time,attention_grid,oom_block,attention_latency,rank_clock,collective_call,collective_summary,collective_straggler,collective_cover,communication_overlap,trace_overlap,rank_time,rank_spread,run_machine,all_reduce_bandwidth,all_reduce_fit,bucket_prediction,ddp_run,ddp_summary,sharding_memory,sharding_time,kernel_pass,kernel_entry,kernel_summary,kernel_by_phase,kernel_by_scope,matmul_share,attention_breakdown,class_coverage,oom,worker_memory,memory_timeline,memory_peak,memory_by_category,memory_largest,allocator_against_driver,op_summary,cpu_scope_time,run_standing,run_title,run_memory,run_caution,transformer_run,current_run,run_list,run_parameter,failures,environment_fact,worker_stage,first_step_content,timeline_bar,timeline_step,phase_time,throughput,step_time,warmup_steps,reported_metric,verification_result,device_clock,run_loss,trace_overhead,attribution_coverage');
INSERT INTO meta VALUES('views_digest','c85aac970940fda687a7dbb1f57a1e58007ab7487d58df79bc3f1ac57ecbf26b');
CREATE TABLE invocation (
  invocation_id INTEGER PRIMARY KEY,  -- number within this database
  uuid TEXT NOT NULL UNIQUE,          -- identity across databases: what merge goes by
  command TEXT NOT NULL,              -- the command line
  started_at TEXT NOT NULL,           -- wall-clock time in UTC, ISO 8601
  ended_at TEXT,                      -- NULL while it works, or if it was killed
  exit_code INTEGER                   -- exit code of the tool; NULL as above
);
INSERT INTO invocation VALUES(1,'6748b9aa-9fd2-4bc9-8492-77fcc729138d','kymo run saxpy','2026-11-21T21:32:00.790Z','2026-11-21T21:32:00.831Z',3);
CREATE TABLE environment (
  invocation_id INTEGER NOT NULL REFERENCES invocation,  -- whose machine
  name TEXT NOT NULL,                                    -- host, cpu, kernel, driver, torch, cuda, variables that matter ...
  value TEXT NOT NULL,                                   -- the fact
  PRIMARY KEY (invocation_id, name)
) WITHOUT ROWID;
INSERT INTO environment VALUES(1,'cpu','A processor');
INSERT INTO environment VALUES(1,'host','node1');
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
INSERT INTO plugin VALUES(1,'saxpy','1.0','/plugins/saxpy.so','5a5a','libtorch','2.11.0','13.0','gcc 12');
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
INSERT INTO device VALUES(1,'cpu-1234','cpu','A processor',1073741824,8,NULL,NULL);
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
, keep TEXT NOT NULL DEFAULT 'all');
INSERT INTO run VALUES(1,1,0,1,'saxpy','f0bb6c87e25c1c72','c69f3a3817b9d681','','','',0,1,'cpu','sync','step',2,10,NULL,'time,trace',0,'ok','','',NULL,NULL,NULL,'','',NULL,'2026-11-21T21:32:00.791Z','2026-11-21T21:32:00.806Z','all');
INSERT INTO run VALUES(2,1,1,1,'saxpy','bd5a2baa28f979a5','ddd1773513a1400a','','','',0,1,'cpu','sync','step',2,10,NULL,'verify,time',0,'oom','out of memory','',NULL,NULL,0,'time','compute',0,'2026-11-21T21:32:00.828Z','2026-11-21T21:32:00.830Z','all');
CREATE TABLE param (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose parameter
  name TEXT NOT NULL,                      -- name of the parameter
  type TEXT NOT NULL,                      -- int, real, bool or text
  value NOT NULL,                          -- its value in SQLite's own type; bool as 0 or 1
  PRIMARY KEY (run_id, name)
) WITHOUT ROWID;
INSERT INTO param VALUES(1,'causal','bool',1);
INSERT INTO param VALUES(1,'dtype','text','fp32');
INSERT INTO param VALUES(1,'n','int',0);
INSERT INTO param VALUES(1,'scale','real',0.5);
INSERT INTO param VALUES(2,'causal','bool',1);
INSERT INTO param VALUES(2,'dtype','text','fp32');
INSERT INTO param VALUES(2,'n','int',1);
INSERT INTO param VALUES(2,'scale','real',0.5);
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
  stderr TEXT NOT NULL, observation TEXT NOT NULL DEFAULT '',                    -- the same for its standard error
  PRIMARY KEY (run_id, rank, pass)
) WITHOUT ROWID;
INSERT INTO rank VALUES(1,0,'time',4711,'node1','ok',1,1048576,262144,524288,'hello','','');
INSERT INTO rank VALUES(1,0,'trace',4712,'node1','ok',1,1048576,262144,524288,'hello','','events only');
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
INSERT INTO sample VALUES(1,0,'time',0,'compute',1,0,1,0,500,499);
INSERT INTO sample VALUES(1,0,'time',0,'step',1,0,1,0,1000,NULL);
INSERT INTO sample VALUES(1,0,'time',1,'compute',1,0,1,5000,505,504);
INSERT INTO sample VALUES(1,0,'time',1,'step',1,0,1,5000,1010,NULL);
INSERT INTO sample VALUES(1,0,'time',2,'compute',0,0,1,10000,510,509);
INSERT INTO sample VALUES(1,0,'time',2,'step',0,0,1,10000,1020,NULL);
INSERT INTO sample VALUES(1,0,'time',3,'compute',0,0,1,15000,515,514);
INSERT INTO sample VALUES(1,0,'time',3,'step',0,0,1,15000,1030,NULL);
INSERT INTO sample VALUES(1,0,'time',4,'compute',0,0,1,20000,520,519);
INSERT INTO sample VALUES(1,0,'time',4,'step',0,0,1,20000,1040,NULL);
INSERT INTO sample VALUES(1,0,'time',5,'compute',0,0,1,25000,525,524);
INSERT INTO sample VALUES(1,0,'time',5,'step',0,0,1,25000,1050,NULL);
INSERT INTO sample VALUES(1,0,'time',6,'compute',0,0,1,30000,530,529);
INSERT INTO sample VALUES(1,0,'time',6,'step',0,0,1,30000,1060,NULL);
INSERT INTO sample VALUES(1,0,'time',7,'compute',0,0,1,35000,535,534);
INSERT INTO sample VALUES(1,0,'time',7,'step',0,0,1,35000,1070,NULL);
INSERT INTO sample VALUES(1,0,'time',8,'compute',0,0,1,40000,540,539);
INSERT INTO sample VALUES(1,0,'time',8,'step',0,0,1,40000,1080,NULL);
INSERT INTO sample VALUES(1,0,'time',9,'compute',0,0,1,45000,545,544);
INSERT INTO sample VALUES(1,0,'time',9,'step',0,0,1,45000,1090,NULL);
INSERT INTO sample VALUES(1,0,'time',10,'compute',0,0,1,50000,550,549);
INSERT INTO sample VALUES(1,0,'time',10,'step',0,0,1,50000,1100,NULL);
INSERT INTO sample VALUES(1,0,'time',11,'compute',0,0,1,55000,555,554);
INSERT INTO sample VALUES(1,0,'time',11,'step',0,0,1,55000,1110,NULL);
INSERT INTO sample VALUES(1,0,'trace',0,'compute',1,0,1,0,500,499);
INSERT INTO sample VALUES(1,0,'trace',0,'step',1,0,1,0,1000,NULL);
INSERT INTO sample VALUES(1,0,'trace',1,'compute',1,0,1,5000,505,504);
INSERT INTO sample VALUES(1,0,'trace',1,'step',1,0,1,5000,1010,NULL);
INSERT INTO sample VALUES(1,0,'trace',2,'compute',0,0,1,10000,510,509);
INSERT INTO sample VALUES(1,0,'trace',2,'step',0,0,1,10000,1020,NULL);
INSERT INTO sample VALUES(1,0,'trace',3,'compute',0,0,1,15000,515,514);
INSERT INTO sample VALUES(1,0,'trace',3,'step',0,0,1,15000,1030,NULL);
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
INSERT INTO step_duration VALUES(1,'compute',0,1,0,1,500,499);
INSERT INTO step_duration VALUES(1,'compute',1,1,0,1,505,504);
INSERT INTO step_duration VALUES(1,'compute',2,0,0,1,510,509);
INSERT INTO step_duration VALUES(1,'compute',3,0,0,1,515,514);
INSERT INTO step_duration VALUES(1,'compute',4,0,0,1,520,519);
INSERT INTO step_duration VALUES(1,'compute',5,0,0,1,525,524);
INSERT INTO step_duration VALUES(1,'compute',6,0,0,1,530,529);
INSERT INTO step_duration VALUES(1,'compute',7,0,0,1,535,534);
INSERT INTO step_duration VALUES(1,'compute',8,0,0,1,540,539);
INSERT INTO step_duration VALUES(1,'compute',9,0,0,1,545,544);
INSERT INTO step_duration VALUES(1,'compute',10,0,0,1,550,549);
INSERT INTO step_duration VALUES(1,'compute',11,0,0,1,555,554);
INSERT INTO step_duration VALUES(1,'step',0,1,0,1,1000,NULL);
INSERT INTO step_duration VALUES(1,'step',1,1,0,1,1010,NULL);
INSERT INTO step_duration VALUES(1,'step',2,0,0,1,1020,NULL);
INSERT INTO step_duration VALUES(1,'step',3,0,0,1,1030,NULL);
INSERT INTO step_duration VALUES(1,'step',4,0,0,1,1040,NULL);
INSERT INTO step_duration VALUES(1,'step',5,0,0,1,1050,NULL);
INSERT INTO step_duration VALUES(1,'step',6,0,0,1,1060,NULL);
INSERT INTO step_duration VALUES(1,'step',7,0,0,1,1070,NULL);
INSERT INTO step_duration VALUES(1,'step',8,0,0,1,1080,NULL);
INSERT INTO step_duration VALUES(1,'step',9,0,0,1,1090,NULL);
INSERT INTO step_duration VALUES(1,'step',10,0,0,1,1100,NULL);
INSERT INTO step_duration VALUES(1,'step',11,0,0,1,1110,NULL);
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
INSERT INTO statistic VALUES(1,'compute','device',10,0,0,531.5,15.138251770487457292,531.5,509.0,554.0,520.67074705165919111,542.32925294834080885,NULL);
INSERT INTO statistic VALUES(1,'compute','host',10,0,0,532.49999999999999998,15.138251770487457292,532.49999999999999998,510.0,555.0,521.67074705165919113,543.32925294834080887,NULL);
INSERT INTO statistic VALUES(1,'step','host',10,0,0,1065.0,30.276503540974914585,1065.0,1020.0,1110.0,1043.3414941033183822,1086.6585058966816177,NULL);
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
INSERT INTO metric VALUES(1,0,'time',0,'run',-1,'','loss',2.5,'');
INSERT INTO metric VALUES(1,0,'trace',0,'run',-1,'','loss',2.5,'');
CREATE TABLE work (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose work
  rank INTEGER NOT NULL,                   -- rank that does it
  phase TEXT NOT NULL,                     -- name of the phase
  flops REAL NOT NULL,                     -- floating-point operations; 0 = not declared
  bytes REAL NOT NULL,                     -- bytes moved; 0 = not declared
  PRIMARY KEY (run_id, rank, phase)
) WITHOUT ROWID;
INSERT INTO work VALUES(1,0,'compute',2000000000.0,1000000.0);
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
INSERT INTO memory_counter VALUES(1,0,'time',-1,20,100,200,1);
INSERT INTO memory_counter VALUES(1,0,'time',0,30,150,400,3);
INSERT INTO memory_counter VALUES(1,0,'trace',-1,20,100,200,1);
INSERT INTO memory_counter VALUES(1,0,'trace',0,30,150,400,3);
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
INSERT INTO mark VALUES(1,0,'time',0,'ready',17,-1);
INSERT INTO mark VALUES(1,0,'trace',0,'ready',17,-1);
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
INSERT INTO out_of_memory VALUES(2,0,'time','device',5,3,7);
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
CREATE TABLE string (
  string_id INTEGER PRIMARY KEY,  -- number within this database
  text TEXT NOT NULL UNIQUE       -- the text; names of kernels and functions are demangled
);
INSERT INTO string VALUES(1,'forward');
INSERT INTO string VALUES(2,'attention');
INSERT INTO string VALUES(3,'block_0/attention');
INSERT INTO string VALUES(4,'load');
INSERT INTO string VALUES(5,replace('kernel<''x"; DROP TABLE run; --\n<script>\input{x}=cmd>','\n',char(10)));
INSERT INTO string VALUES(6,'memcpy host to device');
INSERT INTO string VALUES(7,'memset');
INSERT INTO string VALUES(8,'cudaLaunchKernel');
INSERT INTO string VALUES(9,'aten::mm');
INSERT INTO string VALUES(10,'[4, 256] [256]');
INSERT INTO string VALUES(11,'MmBackward0');
INSERT INTO string VALUES(12,'backward');
INSERT INTO string VALUES(13,'(unnamed)');
INSERT INTO string VALUES(14,'void f<''>()');
INSERT INTO string VALUES(15,'never called');
CREATE TABLE kernel_class (
  name_id INTEGER PRIMARY KEY REFERENCES string,  -- name of the kernel, copy or memset
  short_name TEXT NOT NULL,                       -- without template arguments, parameters and namespaces
  class TEXT NOT NULL                             -- matmul, softmax, elementwise, reduction, attention, normalisation, optimizer, communication, copy, memset or other
);
INSERT INTO kernel_class VALUES(5,'kernel','matmul');
CREATE TABLE scope_path (
  scope_id INTEGER PRIMARY KEY REFERENCES string,  -- the path
  module TEXT NOT NULL,                            -- the path without the numbers of repeated parts: block/attention/softmax
  depth INTEGER NOT NULL                           -- scopes it names
);
INSERT INTO scope_path VALUES(3,'block/attention',2);
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
INSERT INTO "range" VALUES(1,0,'trace',0,NULL,'phase',1,NULL,2,1,0,10010,10500);
INSERT INTO "range" VALUES(1,0,'trace',1,0,'scope',2,3,2,1,1,10010,NULL);
INSERT INTO "range" VALUES(1,0,'trace',2,NULL,'scope',4,4,-1,NULL,0,5,6);
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
INSERT INTO launch_shape VALUES(1,0,'trace',0,4,2,1,256,1,1,1024,2048,168);
INSERT INTO launch_shape VALUES(1,0,'trace',1,1,1,1,32,1,1,0,0,16);
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
INSERT INTO kernel VALUES(1,0,'trace',0,5,10100,10150,7,4000000000,2,1,3,'launch',0,NULL,0);
INSERT INTO kernel VALUES(1,0,'trace',3,13,15100,15150,7,4000000000,3,NULL,NULL,'graph',1,1099511627779,NULL);
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
INSERT INTO memcpy VALUES(1,0,'trace',1,6,1048576,10200,10250,7,4000000000,2,12,NULL,'phase',NULL,NULL);
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
INSERT INTO memset VALUES(1,0,'trace',2,7,64,10300,10350,7,4000000000,-1,NULL,NULL,'none',NULL,NULL);
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
INSERT INTO api_call VALUES(1,0,'trace',0,8,10020,10030,77,4000000000);
INSERT INTO api_call VALUES(1,0,'trace',1,13,20,30,77,1);
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
INSERT INTO synchronization VALUES(1,0,'trace',0,'stream',10400,10450,7,12);
INSERT INTO synchronization VALUES(1,0,'trace',1,'context',40,45,NULL,13);
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
INSERT INTO tracing_pause VALUES(1,0,'trace',0,'buffer flush',10460,10470);
INSERT INTO tracing_pause VALUES(1,0,'trace',1,'lazy loading',50,51);
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
INSERT INTO op VALUES(1,0,'trace',0,NULL,9,10,0,10015,10090,60,1,9,2,1,3,'launch');
INSERT INTO op VALUES(1,0,'trace',1,0,11,NULL,1,10020,NULL,0,0,NULL,-1,NULL,NULL,'none');
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
INSERT INTO kernel_total VALUES(1,0,'trace',0,'kernel',1,3,5,'launch',2,1,0,50,50,50);
INSERT INTO kernel_total VALUES(1,0,'trace',1,'memcpy',12,NULL,6,'phase',2,1,1048576,50,50,50);
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
INSERT INTO op_total VALUES(1,0,'trace',0,1,3,9,0,2,1,75,60,1,50);
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
INSERT INTO step_activity VALUES(1,0,'trace',2,'forward',0,10100,10250,2,50,50,0,0,0,50,50,50,1,50);
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
INSERT INTO kernel_outlier VALUES(1,0,'trace',0,5,2,1,3,50,8,10,40.500000000000000001,1,0,90,1980);
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
INSERT INTO allocation VALUES(1,0,'trace',0,'cuda',-512,500,512,10,NULL,NULL,NULL,NULL,0,0,-1,NULL,NULL,NULL,NULL,NULL,'parameter','tag',0);
INSERT INTO allocation VALUES(1,0,'trace',1,'cuda',-512,500,512,10,20,25,2,3,0,0,0,1,3,0,12,9,'unknown','',1);
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
INSERT INTO segment VALUES(1,0,'trace',4,4096,2097152,0,9,NULL,NULL);
INSERT INTO segment VALUES(1,0,'trace',5,8192,2097152,0,9,12,6);
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
INSERT INTO memory_point VALUES(1,0,'trace',0,'cuda',10,-1,NULL,500,512,512,2097152,512,0,0,0,0,0,0);
INSERT INTO memory_point VALUES(1,0,'trace',7,'cpu',10200,2,12,1,2,3,4,1,2,3,4,5,6,7);
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
INSERT INTO memory_phase VALUES(1,0,'trace','cuda',2,'forward',0,512,600,1,2,3,4,10300,1,2,3,4,5,6,7);
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
INSERT INTO device_memory VALUES(1,0,'trace',0,1,'before cuda',-1,100,NULL);
INSERT INTO device_memory VALUES(1,0,'trace',1,10200,'',2,300,200);
INSERT INTO device_memory VALUES(1,0,'trace',2,15200,'',3,400,200);
CREATE TABLE stack (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose stack
  rank INTEGER NOT NULL,                   -- rank it was taken on
  pass TEXT NOT NULL,                      -- pass it was taken in
  stack INTEGER NOT NULL,                  -- number of the stack
  depth INTEGER NOT NULL,                  -- 0 is the innermost frame
  frame INTEGER NOT NULL,                  -- row of stack_frame
  PRIMARY KEY (run_id, rank, pass, stack, depth)
) WITHOUT ROWID;
INSERT INTO stack VALUES(1,0,'trace',0,0,0);
INSERT INTO stack VALUES(1,0,'trace',0,1,1);
INSERT INTO stack VALUES(1,0,'trace',1,0,2);
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
INSERT INTO stack_frame VALUES(1,0,'trace',0,'libx.so',64,14);
INSERT INTO stack_frame VALUES(1,0,'trace',1,'liby.so',128,NULL);
INSERT INTO stack_frame VALUES(1,0,'trace',2,'libz.so',1,15);
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
INSERT INTO clock_sync VALUES(1,0,'trace',0,'device',1,1000,50);
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
INSERT INTO overhead VALUES(1,0,'trace','compute',2,512.5,532.49999999999999998,0.96244131455399062335);
INSERT INTO overhead VALUES(1,0,'trace','step',2,1025.0,1065.0,0.96244131455399062335);
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
INSERT INTO collective VALUES(1,0,'trace',0,5,17,'all_reduce',1099511627776,1,10040,10060,10100,10150,1,2,12,3,'autograd');
INSERT INTO collective VALUES(1,0,'trace',1,13,0,'barrier',0,0,40,NULL,40,NULL,0,-1,NULL,NULL,'none');
CREATE TABLE run_library (
  run_id INTEGER NOT NULL REFERENCES run,  -- whose plugin
  name TEXT NOT NULL,                      -- file name, in the plugin's folder
  sha256 TEXT NOT NULL,                    -- hash of the file
  PRIMARY KEY (run_id, name)
) WITHOUT ROWID;
INSERT INTO run_library VALUES(1,'librest.so','7b7b');
INSERT INTO run_library VALUES(2,'librest.so','7b7b');
CREATE INDEX run_by_plan ON run (plan_key);
CREATE UNIQUE INDEX run_by_invocation ON run (invocation_id, sequence);
CREATE VIEW launch_gap AS
SELECT a.run_id,                                                         -- the run
       a.rank,                                                           -- its rank
       a.pass,                                                           -- pass it was observed in
       a.phase,                                                          -- phase; `step` is the whole step
       count(*) AS steps,                                                -- measured steps
       avg(a.end_ns - a.start_ns) / 1e6 AS span_ms,                      -- length of the stretch
       avg(a.end_ns - a.start_ns - a.idle_ns) / 1e6 AS busy_ms,          -- something ran: a kernel, copy or memset
       avg(a.idle_ns) / 1e6 AS idle_ms,                                  -- nothing ran
       1.0 * sum(a.idle_ns) / nullif(sum(a.end_ns - a.start_ns), 0) AS idle_share,  -- of the stretch
       avg(a.gaps) AS gaps,                                              -- stretches in which nothing ran
       max(a.longest_gap_ns) / 1e3 AS longest_gap_us,                    -- longest of them in any step
       avg(a.kernels) AS kernels,                                        -- kernels, copies and memsets that started in it
       avg(a.kernel_ns) / 1e6 AS kernel_ms                               -- sum of the kernels' durations, which counts twice what overlaps
FROM kernel_pass k
JOIN step_activity a ON a.run_id = k.run_id AND a.rank = k.rank AND a.pass = k.pass
WHERE a.warmup = 0
GROUP BY a.run_id, a.rank, a.pass, a.phase
;
CREATE VIEW step_span AS
SELECT t.run_id,                                                         -- the run
       t.rank,                                                           -- its rank
       t.pass,                                                           -- pass it was observed in
       t.step,                                                           -- measured step
       t.span_ns / 1e6 AS span_ms,                                       -- from the records of the kernels
       t.timed_ns / 1e6 AS timed_ms,                                     -- between events on the device
       (t.span_ns - t.timed_ns) / 1e6 AS difference_ms,                  -- span less timed
       max(0.01 * t.timed_ns, 60000) / 1e6 AS allowed_ms,                -- the larger of 1 % and 60 µs
       abs(t.span_ns - t.timed_ns) <= max(0.01 * t.timed_ns, 60000) AS agrees  -- 1 if the difference is within it
FROM (
  SELECT a.run_id, a.rank, a.pass, a.step, a.end_ns - a.start_ns AS span_ns, s.device_ns AS timed_ns
  FROM kernel_pass k
  JOIN step_activity a ON a.run_id = k.run_id AND a.rank = k.rank AND a.pass = k.pass AND a.phase = 'step' AND a.warmup = 0
  JOIN sample s ON s.run_id = a.run_id AND s.rank = a.rank AND s.pass = a.pass AND s.step = a.step AND s.phase = 'step' AND s.device_ns IS NOT NULL
) t
;
CREATE VIEW outlier_call AS
SELECT o.run_id,                                                         -- the run
       o.rank,                                                           -- rank that launched it
       o.pass,                                                           -- pass it ran in
       o.sequence,                                                       -- as in kernel
       o.step,                                                           -- step; −1 outside of steps
       coalesce(p.text, 'other') AS phase,                               -- phase that launched it; `other` outside of phases
       s.text AS scope,                                                  -- path of scopes; NULL if none is known
       coalesce(c.class, 'other') AS class,                              -- what kind of kernel it is
       coalesce(c.short_name, n.text) AS short_name,                     -- name without template arguments, parameters and namespaces
       n.text AS name,                                                   -- full name
       o.duration_ns / 1e3 AS duration_us,                               -- how long it ran
       o.sibling_median_ns / 1e3 AS sibling_median_us,                   -- median of its siblings
       1.0 * o.duration_ns / nullif(o.sibling_median_ns, 0) AS ratio,    -- duration over that median
       (o.duration_ns - o.sibling_median_ns) / 1e3 AS excess_us,         -- time above it
       o.siblings,                                                       -- calls compared, itself included
       o.deviation,                                                      -- distance from the median in median absolute deviations
       o.sm_clock_mhz,                                                   -- clock at the nearest reading; NULL without one
       u.usual_mhz AS usual_sm_clock_mhz,                                -- median of the pass's readings, of an even number the lower middle one; NULL without one
       CASE WHEN o.first_use = 0 AND o.concurrent = 0 AND o.gap_before_ns < 50000 AND coalesce(o.sm_clock_mhz >= 0.97 * u.usual_mhz, 1)
            THEN 'nothing that was recorded'
            ELSE substr(CASE o.first_use WHEN 1 THEN ', first use of this kernel' ELSE '' END
                        || CASE WHEN o.sm_clock_mhz < 0.97 * u.usual_mhz THEN ', clock ' || o.sm_clock_mhz || ' MHz instead of ' || u.usual_mhz || ' MHz' ELSE '' END
                        || CASE WHEN o.concurrent > 0 THEN ', ' || o.concurrent || CASE o.concurrent WHEN 1 THEN ' other' ELSE ' others' END || ' ran at the same time' ELSE '' END
                        || CASE WHEN o.gap_before_ns >= 50000 THEN ', GPU idle for ' || CAST(round(o.gap_before_ns / 1e3) AS INTEGER) || ' µs before it' ELSE '' END, 3)
       END AS differs                                                    -- how it differs: first use, a clock 3 % below the usual one, work beside it, 50 µs of idleness before it
FROM kernel_pass k
JOIN kernel_outlier o ON o.run_id = k.run_id AND o.rank = k.rank AND o.pass = k.pass
JOIN string n ON n.string_id = o.name_id
LEFT JOIN string p ON p.string_id = o.phase_id
LEFT JOIN string s ON s.string_id = o.scope_id
LEFT JOIN kernel_class c ON c.name_id = o.name_id
LEFT JOIN (
  SELECT run_id, rank, pass, sm_clock_mhz AS usual_mhz
  FROM (SELECT run_id, rank, pass, sm_clock_mhz, row_number() OVER (PARTITION BY run_id, rank, pass ORDER BY sm_clock_mhz) AS place,
               count(*) OVER (PARTITION BY run_id, rank, pass) AS readings
        FROM gpu_sample WHERE sm_clock_mhz IS NOT NULL AND pass <> 'time')
  WHERE place = (readings + 1) / 2
) u ON u.run_id = o.run_id AND u.rank = o.rank AND u.pass = o.pass
;
CREATE VIEW device_peak AS
SELECT d.device_id,        -- the device
       d.name,             -- its model
       p.dtype,            -- element type: fp32 by ordinary multiply-adds, bf16 and fp16 by tensor cores that add in fp32
       d.multiprocessors,  -- streaming multiprocessors
       p.flops_per_clock,  -- operations per clock of one of them
       d.max_sm_clock_mhz, -- highest clock; NULL if unknown, and so is the peak
       1e6 * d.multiprocessors * p.flops_per_clock * d.max_sm_clock_mhz AS flops_per_s  -- their product
FROM device d
JOIN (
  SELECT m.model, e.dtype, CASE e.dtype WHEN 'fp32' THEN m.scalar ELSE m.tensor END AS flops_per_clock
  FROM (SELECT 'A100' AS model, 128 AS scalar, 2048 AS tensor UNION ALL SELECT 'H100', 256, 4096 UNION ALL SELECT 'H200', 256, 4096
        UNION ALL SELECT 'B200', 256, 8192) m
  CROSS JOIN (SELECT 'fp32' AS dtype UNION ALL SELECT 'bf16' UNION ALL SELECT 'fp16') e
) p ON d.kind = 'cuda' AND d.name || ' ' GLOB '*' || p.model || '[^0-9]*'
;
CREATE VIEW attention_run AS
SELECT p.run_id,          -- the run
       p.implementation,  -- naive; tiled or flash of kymo's own; sdpa with the name of LibTorch's backend. What the run chose, where it could choose and came so far
       CASE p.implementation WHEN 'flash' THEN 0 WHEN 'naive' THEN 1 WHEN 'sdpa cudnn' THEN 2 WHEN 'sdpa flash' THEN 3 WHEN 'sdpa efficient' THEN 4
            WHEN 'sdpa math' THEN 5 WHEN 'tiled' THEN 6 ELSE 7 END AS implementation_order,  -- place among them
       p.batch,           -- sequences
       p.heads,           -- heads of each
       p.seq,             -- tokens of each
       p.head_dim,        -- width of a head
       p.dtype,           -- element type of query, key and value
       p.causal,          -- 1 if a token sees only itself and those before it
       p.mode,            -- forward, backward or forward_backward
       p.timing,          -- sync, hot or cold
       d.device_id,       -- device it ran on; NULL if none was reached
       d.name AS device_name,  -- its model
       p.batch * p.heads * ((p.seq + 127) / 128) AS query_tiles,  -- blocks of 128 queries: what a kernel can divide among multiprocessors
       CASE WHEN d.kind = 'cuda' THEN p.batch * p.heads * ((p.seq + 127) / 128) >= d.multiprocessors END AS fills_device,  -- 1 if there is one for each multiprocessor; NULL on a CPU
       p.batch * p.heads * p.seq * p.seq * CASE p.dtype WHEN 'fp32' THEN 4 ELSE 2 END AS score_matrix_bytes,  -- size of a matrix of all scores
       p.batch * p.heads * p.seq * p.head_dim * CASE p.dtype WHEN 'fp32' THEN 4 ELSE 2 END AS tensor_bytes     -- size of query, key, value or output
FROM (
  SELECT r.run_id, r.mode AS timing,
         CASE r.workload
           WHEN 'attention_naive' THEN 'naive'
           WHEN 'attention_flash' THEN coalesce(max(CASE WHEN q.name = 'implementation' THEN nullif(q.value, 'auto') END),
             (SELECT m.value FROM metric m WHERE m.run_id = r.run_id AND m.name = 'implementation' ORDER BY m.pass <> 'time', m.sequence LIMIT 1), 'auto')
           ELSE 'sdpa ' || coalesce(max(CASE WHEN q.name = 'backend' THEN nullif(q.value, 'auto') END),
             (SELECT m.value FROM metric m WHERE m.run_id = r.run_id AND m.name = 'backend' ORDER BY m.pass <> 'time', m.sequence LIMIT 1), 'auto')
         END AS implementation,
         max(CASE WHEN q.name = 'batch' THEN q.value END) AS batch,
         max(CASE WHEN q.name = 'heads' THEN q.value END) AS heads,
         max(CASE WHEN q.name = 'seq' THEN q.value END) AS seq,
         max(CASE WHEN q.name = 'head_dim' THEN q.value END) AS head_dim,
         max(CASE WHEN q.name = 'dtype' THEN q.value END) AS dtype,
         max(CASE WHEN q.name = 'causal' THEN q.value END) AS causal,
         max(CASE WHEN q.name = 'mode' THEN q.value END) AS mode
  FROM run r JOIN param q ON q.run_id = r.run_id
  WHERE r.workload IN ('attention_naive', 'attention_flash', 'attention_sdpa')
  GROUP BY r.run_id
) p
LEFT JOIN (SELECT run_id, min(device_id) AS device_id FROM rank WHERE device_id IS NOT NULL GROUP BY run_id) k ON k.run_id = p.run_id
LEFT JOIN device d ON d.device_id = k.device_id
;
CREATE VIEW attention_time AS
SELECT t.run_id,       -- the run
       t.phase,        -- forward or backward; `step` is all of a step
       t.clock,        -- host or device
       t.count,        -- samples
       t.mean_ms,      -- mean
       t.std_ms,       -- standard deviation
       t.median_ms,    -- median
       w.flops,        -- floating-point operations as declared
       w.flops / (nullif(t.median_ms, 0) / 1e3) / 1e12 AS tflop_per_s,          -- operations per second, in 10^12
       w.bytes / (nullif(t.median_ms, 0) / 1e3) / 1e9 AS gb_per_s,              -- bytes per second as declared, in 10^9
       e.flops_per_s / 1e12 AS peak_tflop_per_s,                                -- what the device can do in the element type, from device_peak; NULL if that is unknown
       w.flops / (nullif(t.median_ms, 0) / 1e3) / e.flops_per_s AS peak_share   -- of that
FROM attention_run a
JOIN phase_time t ON t.run_id = a.run_id
LEFT JOIN throughput w ON w.run_id = t.run_id AND w.phase = t.phase
LEFT JOIN device_peak e ON e.device_id = a.device_id AND e.dtype = a.dtype
;
CREATE VIEW attention_grid AS
SELECT a.run_id,                                   -- the run
       s.state,                                    -- empty if the run ended well, `out of memory`, or another state
       CASE WHEN s.state = '' THEN f.mean_ms END AS forward_ms,       -- mean time of the forward pass; NULL if it was not measured
       CASE WHEN s.state = '' THEN f.std_ms END AS forward_std_ms,    -- its standard deviation
       CASE WHEN s.state = '' THEN b.mean_ms END AS backward_ms,      -- mean time of the backward pass; NULL if it was not measured
       CASE WHEN s.state = '' THEN b.std_ms END AS backward_std_ms,   -- its standard deviation
       coalesce((SELECT max(m.value) FROM metric m WHERE m.run_id = a.run_id AND m.name = 'memory_before_backward'),
                (SELECT max(h.begin_allocated_bytes) FROM memory_phase h WHERE h.run_id = a.run_id AND h.phase = 'backward' AND h.step >= 0))
         AS before_backward_bytes,                 -- handed out by the allocator when backward began: as a GPU run reports itself, else from the memory pass; NULL if neither was
       o.failed_phase,                             -- phase or stage that ran out of memory; NULL if none did
       o.requested_bytes,                          -- what it asked for then; NULL if unknown
       o.free_bytes                                -- free at that moment; NULL if unknown
FROM attention_run a
JOIN (SELECT run_id, CASE state WHEN 'OOM' THEN 'out of memory' ELSE state END AS state FROM run_standing) s ON s.run_id = a.run_id
LEFT JOIN phase_time f ON f.run_id = a.run_id AND f.phase = 'forward'
LEFT JOIN phase_time b ON b.run_id = a.run_id AND b.phase = 'backward'
LEFT JOIN (SELECT run_id, max(failed_phase) AS failed_phase, max(requested_bytes) AS requested_bytes, min(free_bytes) AS free_bytes
           FROM oom GROUP BY run_id) o ON o.run_id = a.run_id
;
CREATE VIEW oom_block AS
SELECT l.run_id,            -- the run
       l.rank,              -- rank that ran out
       l.device,            -- cuda or cpu
       l.sequence,          -- as in allocation
       l.requested_bytes,   -- size that was asked for
       l.allocated_bytes,   -- size that the allocator took for it
       l.category,          -- parameter, gradient, optimizer_state, activation, workspace, input or unknown
       l.step,              -- step of its birth; −1 outside of steps
       l.phase,             -- phase of its birth; `other` outside of phases, `outside` outside of steps
       l.module,            -- path of scopes of its birth without the numbers of repeated parts; NULL if none is known
       l.operator           -- innermost operator that asked for it; NULL if there was none
FROM (
  SELECT a.run_id, a.rank, a.pass, a.device, max(a.sequence) AS last
  FROM out_of_memory o
  JOIN allocation a ON a.run_id = o.run_id AND a.rank = o.rank AND a.pass = o.pass AND a.device = CASE o.place WHEN 'device' THEN 'cuda' ELSE 'cpu' END
  WHERE o.pass = 'memory'
  GROUP BY a.run_id, a.rank, a.pass, a.device
) t
JOIN allocation a ON a.run_id = t.run_id AND a.rank = t.rank AND a.pass = t.pass AND a.device = t.device AND a.sequence <= t.last
 AND coalesce(a.free_sequence > t.last, 1)
JOIN memory_largest l ON l.run_id = a.run_id AND l.rank = a.rank AND l.pass = a.pass AND l.sequence = a.sequence
;
CREATE VIEW attention_latency AS
WITH backward AS (
  SELECT *
  FROM (
    SELECT a.*, r.suite, r.suite_case, r.label,
           row_number() OVER (PARTITION BY a.implementation, a.batch, a.heads, a.seq, a.head_dim, a.dtype, a.causal, a.timing, a.device_id, r.suite,
                              r.suite_case, r.label ORDER BY a.run_id DESC) AS place
    FROM attention_run a JOIN run r ON r.run_id = a.run_id AND r.status = 'ok'
    WHERE a.mode = 'backward'
  ) WHERE place = 1
)
SELECT p.run_id,                 -- the run that timed forward
       p.backward_run_id,        -- the run that timed backward: the same one, or another; NULL if there is none
       p.implementation,         -- as in attention_run
       p.implementation_order,   -- the same
       p.batch,                  -- the same
       p.heads,                  -- the same
       p.seq,                    -- the same
       p.head_dim,               -- the same
       p.dtype,                  -- the same
       p.causal,                 -- the same
       p.timing,                 -- the same
       p.fills_device,           -- the same
       f.median_ms AS forward_ms,    -- median time of the forward pass
       b.median_ms AS backward_ms,   -- median time of the backward pass; NULL without
       CASE WHEN p.run_id = p.backward_run_id THEN w.median_ms ELSE f.median_ms + b.median_ms END AS both_ms,  -- median time of both in one step, or the sum of the two medians if they are of two runs
       f.tflop_per_s AS forward_tflop_per_s,    -- rate of the forward pass, in 10^12 operations per second
       b.tflop_per_s AS backward_tflop_per_s,   -- of the backward pass
       f.peak_tflop_per_s        -- what the device can do, from device_peak; NULL if that is unknown
FROM (
  SELECT a.*, CASE a.mode WHEN 'forward_backward' THEN a.run_id ELSE b.run_id END AS backward_run_id
  FROM attention_run a
  JOIN run r ON r.run_id = a.run_id AND r.status = 'ok'
  LEFT JOIN backward b ON a.mode = 'forward' AND b.implementation = a.implementation AND b.batch = a.batch AND b.heads = a.heads AND b.seq = a.seq
   AND b.head_dim = a.head_dim AND b.dtype = a.dtype AND b.causal = a.causal AND b.timing = a.timing AND b.device_id IS a.device_id AND b.suite = r.suite
   AND b.suite_case = r.suite_case AND b.label = r.label
  WHERE a.mode <> 'backward'
) p
JOIN attention_time f ON f.run_id = p.run_id AND f.phase = 'forward'
LEFT JOIN attention_time b ON b.run_id = p.backward_run_id AND b.phase = 'backward'
LEFT JOIN attention_time w ON w.run_id = p.backward_run_id AND w.phase = 'step'
;
CREATE VIEW rank_clock AS
SELECT t.run_id,                                                         -- the run
       t.rank,                                                           -- its rank
       t.pass,                                                           -- its pass
       t.clock_ns - t.host_ns AS offset_ns,                              -- to be added to a time of this rank for the same moment on the shared clock
       t.error_ns                                                        -- bound on its error
FROM (SELECT s.*, row_number() OVER (PARTITION BY s.run_id, s.rank, s.pass ORDER BY s.error_ns, s.sequence) AS place FROM clock_sync s WHERE s.clock = 'supervisor') t
WHERE t.place = 1
;
CREATE VIEW collective_call AS
SELECT t.run_id,                                                         -- the run
       t.rank,                                                           -- rank that called
       t.pass,                                                           -- pass it was made in
       t.sequence,                                                       -- as in collective
       coalesce((SELECT n.text FROM string n WHERE n.string_id = t.communicator_id), '') AS communicator,  -- name of the communicator
       t.number,                                                         -- counts the calls of the communicator, the same on all its ranks
       t.operation,                                                      -- all_reduce, reduce_scatter, all_gather, broadcast or barrier
       t.bytes,                                                          -- payload of this rank
       t.on_device,                                                      -- 1 if it was queued on a stream of the GPU
       t.step,                                                           -- step it was called in; −1 outside of steps
       t.measured,                                                       -- 1 if that is a measured step
       coalesce((SELECT p.text FROM string p WHERE p.string_id = t.phase_id), 'other') AS phase,  -- phase it was called in; `other` outside of phases
       t.enqueue_ns / 1e6 AS enqueue_ms,                                 -- when it was called, clock of the rank, after the start of its run
       t.start_ns / 1e6 AS start_ms,                                     -- when this rank began to work on it; NULL if that was not seen
       t.end_ns / 1e6 AS end_ms,                                         -- when it had done its part; NULL if that was not seen
       (t.end_ns - t.start_ns) / 1e3 AS duration_us,                     -- from begin to end: waiting and transfer
       CASE WHEN t.complete THEN (t.start_ns + t.offset_ns - t.earliest_ns) / 1e3 END AS late_us,  -- how much later than the first rank it began
       CASE WHEN t.complete THEN (t.latest_ns - t.start_ns - t.offset_ns) / 1e3 END AS wait_us,    -- from its begin to that of the last rank
       CASE WHEN t.complete THEN (t.end_ns + t.offset_ns - t.latest_ns) / 1e3 END AS transfer_us,  -- from the begin of the last rank to its own end; below 0 if it was done before (the root of a broadcast may be, or the clocks err)
       CASE WHEN t.complete AND t.ends = t.ranks THEN (t.done_ns - t.latest_ns) / 1e3 END AS call_transfer_us,  -- from the begin of the last rank to the end of the last to finish: the same on all ranks
       CASE WHEN t.complete AND t.ranks > 1 THEN t.last_begun END AS last_rank,  -- rank that began last, of several the lowest; NULL for a run of one rank
       CASE WHEN t.complete THEN t.error_ns / 1e3 END AS error_us,       -- bound on what the clocks may err between two ranks
       t.ranks                                                           -- ranks of the run
FROM (
  SELECT a.*, max(a.start_ns + a.offset_ns) OVER same AS latest_ns, min(a.start_ns + a.offset_ns) OVER same AS earliest_ns, max(a.end_ns + a.offset_ns) OVER same AS done_ns,
         count(a.end_ns) OVER same AS ends, count(a.start_ns + a.offset_ns) OVER same = a.ranks AS complete,
         first_value(a.rank) OVER (PARTITION BY a.run_id, a.pass, a.communicator_id, a.number ORDER BY a.start_ns + a.offset_ns DESC, a.rank) AS last_begun,
         2 * max(a.clock_error_ns) OVER same AS error_ns
  FROM (
    SELECT c.*, r.ranks, CASE r.ranks WHEN 1 THEN 0 ELSE k.offset_ns END AS offset_ns, CASE r.ranks WHEN 1 THEN 0 ELSE k.error_ns END AS clock_error_ns,
           coalesce((SELECT s.warmup = 0 FROM sample s WHERE s.run_id = c.run_id AND s.rank = c.rank AND s.pass = c.pass AND s.step = c.step AND s.phase = 'step'), 0) AS measured
    FROM run r
    CROSS JOIN collective c ON c.run_id = r.run_id
    LEFT JOIN rank_clock k ON k.run_id = c.run_id AND k.rank = c.rank AND k.pass = c.pass
  ) a
  WINDOW same AS (PARTITION BY a.run_id, a.pass, a.communicator_id, a.number)
) t
;
CREATE VIEW collective_summary AS
WITH call AS (
  SELECT c.run_id, c.pass, c.communicator, c.phase, c.operation, c.number, max(c.ranks) AS ranks, max(c.on_device) AS on_device, max(c.bytes) AS bytes, avg(c.wait_us) AS wait_us,
         max(c.late_us) AS spread_us, max(c.call_transfer_us) AS transfer_us, max(c.last_rank) AS last_rank, max(c.error_us) AS error_us
  FROM collective_call c WHERE c.measured GROUP BY c.run_id, c.pass, c.communicator, c.phase, c.operation, c.number
),
placed AS (
  SELECT a.*, row_number() OVER (PARTITION BY a.run_id, a.pass, a.communicator, a.phase, a.operation ORDER BY a.transfer_us IS NULL, a.transfer_us) AS place,
         count(a.transfer_us) OVER (PARTITION BY a.run_id, a.pass, a.communicator, a.phase, a.operation) AS timed
  FROM call a
),
late AS (
  SELECT l.run_id, l.pass, l.communicator, l.phase, l.operation, l.last_rank, l.calls,
         row_number() OVER (PARTITION BY l.run_id, l.pass, l.communicator, l.phase, l.operation ORDER BY l.calls DESC, l.last_rank) AS place
  FROM (SELECT run_id, pass, communicator, phase, operation, last_rank, count(*) AS calls FROM call WHERE last_rank IS NOT NULL
        GROUP BY run_id, pass, communicator, phase, operation, last_rank) l
)
SELECT g.run_id,                                                         -- the run
       g.pass,                                                           -- pass they were made in
       g.communicator,                                                   -- name of the communicator
       g.phase,                                                          -- phase they were called in; `other` outside of phases
       g.operation,                                                      -- all_reduce, reduce_scatter, all_gather, broadcast or barrier
       g.ranks,                                                          -- ranks of the run
       g.on_device,                                                      -- 1 if they were queued on a stream of the GPU
       g.steps,                                                          -- measured steps whose calls were kept
       1.0 * g.calls / nullif(g.steps, 0) AS calls,                      -- calls per step of one rank
       1.0 * g.bytes / nullif(g.steps, 0) AS bytes,                      -- payload per step of one rank
       1.0 * g.bytes * g.bus_factor / nullif(g.steps, 0) AS bus_bytes,   -- what a rank moves over its links per step: payload times the factor of busbw
       g.timed,                                                          -- calls that can be compared over all ranks
       g.wait_us,                                                        -- mean wait of a rank for the last one, per call; NULL if no call can be compared
       g.median_transfer_us,                                             -- median transfer of a call
       g.transfer_us,                                                    -- mean transfer of a call
       g.wait_us * g.calls / 1e3 / nullif(g.steps, 0) AS wait_ms,        -- the wait per step
       g.transfer_us * g.calls / 1e3 / nullif(g.steps, 0) AS transfer_ms,  -- the transfers per step; calls that overlap count each by itself
       g.wait_us / nullif(g.wait_us + g.transfer_us, 0) AS wait_share,   -- of waiting and transfer
       g.spread_us,                                                      -- mean of the last rank's begin less the first one's
       l.last_rank AS straggler,                                         -- rank that was last most often; NULL for a run of one rank
       1.0 * l.calls / nullif(g.timed_last, 0) AS straggler_share,       -- in what share of the calls
       g.error_us,                                                       -- bound on what the clocks may err: shorter waits say nothing
       g.timed_bytes / nullif(g.timed_us, 0) / 1e3 AS algbw_gb_s,        -- payload over transfer, in GB/s
       g.timed_bytes / nullif(g.timed_us, 0) / 1e3 * g.bus_factor AS busbw_gb_s  -- times 2(n−1)/n for an all_reduce, (n−1)/n for reduce_scatter and all_gather, 1 for a broadcast, as nccl-tests has it
FROM (
  SELECT p.run_id, p.pass, p.communicator, p.phase, p.operation, max(p.ranks) AS ranks, max(p.on_device) AS on_device, count(*) AS calls, sum(p.bytes) AS bytes,
         CASE (SELECT r.keep FROM run r WHERE r.run_id = p.run_id) WHEN 'one-step' THEN 1
              ELSE (SELECT count(DISTINCT s.step) FROM sample s WHERE s.run_id = p.run_id AND s.pass = p.pass AND s.phase = 'step' AND s.warmup = 0) END AS steps,
         max(p.timed) AS timed, avg(p.wait_us) AS wait_us, avg(p.transfer_us) AS transfer_us, avg(p.spread_us) AS spread_us, max(p.error_us) AS error_us,
         avg(CASE WHEN p.place IN ((p.timed + 1) / 2, (p.timed + 2) / 2) THEN p.transfer_us END) AS median_transfer_us, count(p.last_rank) AS timed_last,
         sum(CASE WHEN p.transfer_us > 0 THEN 1.0 * p.bytes END) AS timed_bytes, sum(CASE WHEN p.transfer_us > 0 THEN p.transfer_us END) AS timed_us,
         CASE p.operation WHEN 'all_reduce' THEN 2.0 * (max(p.ranks) - 1) / max(p.ranks) WHEN 'broadcast' THEN 1.0 WHEN 'barrier' THEN 0.0
                          ELSE 1.0 * (max(p.ranks) - 1) / max(p.ranks) END AS bus_factor
  FROM placed p GROUP BY p.run_id, p.pass, p.communicator, p.phase, p.operation
) g
LEFT JOIN late l ON l.run_id = g.run_id AND l.pass = g.pass AND l.communicator = g.communicator AND l.phase = g.phase AND l.operation = g.operation AND l.place = 1
;
CREATE VIEW collective_straggler AS
SELECT c.run_id,                                                         -- the run
       c.pass,                                                           -- pass the calls were made in
       c.rank,                                                           -- its rank
       count(*) AS calls,                                                -- calls that can be compared
       sum(c.last_rank = c.rank) AS last_calls,                          -- of them those that it began last
       1.0 * sum(c.last_rank = c.rank) / count(*) AS last_share,         -- their share; with n ranks that none stands out of, 1/n
       avg(c.late_us) AS late_us,                                        -- mean of its begin less that of the first rank
       max(c.late_us) AS max_late_us,                                    -- the largest
       avg(c.wait_us) AS wait_us                                         -- mean of how long it waited for the last rank
FROM collective_call c
WHERE c.measured AND c.last_rank IS NOT NULL
GROUP BY c.run_id, c.pass, c.rank
;
CREATE VIEW collective_cover AS
WITH observed AS (
  SELECT c.run_id, c.rank, c.pass, c.step, c.start_ns, c.end_ns,
         max(c.end_ns) OVER (PARTITION BY c.run_id, c.rank, c.pass, c.step ORDER BY c.start_ns, c.sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
  FROM collective c
  JOIN sample s ON s.run_id = c.run_id AND s.rank = c.rank AND s.pass = c.pass AND s.step = c.step AND s.phase = 'step' AND s.warmup = 0
  WHERE c.on_device = 0 AND c.start_ns IS NOT NULL AND c.end_ns IS NOT NULL
),
stretch AS (
  SELECT run_id, rank, pass, step, min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM (SELECT o.*, sum(o.before_ns IS NULL OR o.start_ns > o.before_ns) OVER (PARTITION BY o.run_id, o.rank, o.pass, o.step ORDER BY o.start_ns, o.end_ns) AS island FROM observed o)
  GROUP BY run_id, rank, pass, step, island
),
part AS (
  SELECT e.run_id, e.rank, e.pass, e.step, 'step' AS phase, e.end_ns - e.start_ns AS covered_ns FROM stretch e
  UNION ALL
  SELECT e.run_id, e.rank, e.pass, e.step, n.text, max(min(e.end_ns, g.end_ns) - max(e.start_ns, g.start_ns), 0)
  FROM stretch e
  JOIN range g ON g.run_id = e.run_id AND g.rank = e.rank AND g.pass = e.pass AND g.step = e.step AND g.kind = 'phase'
  JOIN string n ON n.string_id = g.name_id
)
SELECT t.run_id,                                                         -- the run
       t.rank,                                                           -- its rank
       t.pass,                                                           -- pass they were made in
       t.phase,                                                          -- phase that the host was in; `step` is the whole step
       t.steps,                                                          -- measured steps with calls
       t.covered_ms,                                                     -- per step: at least one call was under way
       t.covered_ms / nullif(max(CASE t.phase WHEN 'step' THEN t.covered_ms END) OVER (PARTITION BY t.run_id, t.rank, t.pass), 0) AS share  -- of that of the whole step
FROM (
  SELECT p.run_id, p.rank, p.pass, p.phase, w.steps, sum(p.covered_ns) / 1e6 / w.steps AS covered_ms
  FROM part p
  JOIN (SELECT run_id, rank, pass, count(DISTINCT step) AS steps FROM stretch GROUP BY run_id, rank, pass) w ON w.run_id = p.run_id AND w.rank = p.rank AND w.pass = p.pass
  GROUP BY p.run_id, p.rank, p.pass, p.phase
) t
;
CREATE VIEW communication_overlap AS
SELECT a.run_id,                                                         -- the run
       a.rank,                                                           -- its rank
       a.pass,                                                           -- pass it was observed in
       a.phase,                                                          -- phase; `step` is the whole step
       sum(a.warmup = 0) AS steps,                                       -- measured steps
       avg(CASE a.warmup WHEN 0 THEN a.end_ns - a.start_ns END) / 1e6 AS span_ms,           -- length of the stretch
       avg(CASE a.warmup WHEN 0 THEN a.compute_ns END) / 1e6 AS compute_ms,                 -- some kernel other than communication ran
       avg(CASE a.warmup WHEN 0 THEN a.comm_ns END) / 1e6 AS communication_ms,              -- some kernel of communication ran
       avg(CASE a.warmup WHEN 0 THEN a.overlap_ns END) / 1e6 AS overlap_ms,                 -- both ran
       avg(CASE a.warmup WHEN 0 THEN a.exposed_comm_ns END) / 1e6 AS exposed_ms,            -- communication ran and nothing else
       1.0 * sum(CASE a.warmup WHEN 0 THEN a.exposed_comm_ns END) / nullif(sum(CASE a.warmup WHEN 0 THEN a.end_ns - a.start_ns END), 0) AS exposed_share,  -- of the stretch
       1.0 * sum(CASE a.warmup WHEN 0 THEN a.overlap_ns END) / nullif(sum(CASE a.warmup WHEN 0 THEN a.comm_ns END), 0) AS overlap_share   -- overlap over communication in the measured steps: how much of communication is hidden
FROM kernel_pass k
JOIN step_activity a ON a.run_id = k.run_id AND a.rank = k.rank AND a.pass = k.pass
WHERE EXISTS (SELECT 1 FROM step_activity e WHERE e.run_id = k.run_id AND e.rank = k.rank AND e.pass = k.pass AND e.comm_ns > 0)
GROUP BY a.run_id, a.rank, a.pass, a.phase
HAVING sum(a.warmup = 0) > 0
;
CREATE VIEW trace_overlap AS
WITH run_time AS (
  SELECT k.run_id, k.rank, k.pass, k.start_ns, k.end_ns, coalesce(c.class, 'other') = 'communication' AS communicates
  FROM kernel k LEFT JOIN kernel_class c ON c.name_id = k.name_id
),
added AS (
  SELECT run_id, rank, pass, communicates,
         max(0, end_ns - max(start_ns, coalesce(max(end_ns) OVER (PARTITION BY run_id, rank, pass, communicates ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns))) AS own_ns,
         max(0, end_ns - max(start_ns, coalesce(max(end_ns) OVER (PARTITION BY run_id, rank, pass ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns))) AS any_ns
  FROM run_time
)
SELECT run_id,                                                           -- the run
       rank,                                                             -- its rank
       pass,                                                             -- pass it was observed in
       sum(own_ns * (1 - communicates)) / 1e6 AS compute_ms,             -- some kernel other than communication ran
       sum(own_ns * communicates) / 1e6 AS communication_ms,             -- some kernel of communication ran
       (sum(own_ns) - sum(any_ns)) / 1e6 AS overlap_ms,                  -- both ran
       1.0 * (sum(own_ns) - sum(any_ns)) / sum(own_ns * communicates) AS overlap_share  -- of communication
FROM added
GROUP BY run_id, rank, pass
HAVING sum(own_ns * communicates) > 0
;
CREATE VIEW rank_time AS
SELECT t.run_id,                                                         -- the run
       t.rank,                                                           -- its rank
       t.phase,                                                          -- phase, or `step` for the whole step
       count(*) AS steps,                                                -- measured steps
       avg(t.time_ns) / 1e6 AS mean_ms,                                  -- mean
       avg(CASE WHEN t.place IN ((t.steps + 1) / 2, (t.steps + 2) / 2) THEN t.time_ns END) / 1e6 AS median_ms,  -- median
       max(t.time_ns) / 1e6 AS max_ms                                    -- largest
FROM (
  SELECT s.run_id, s.rank, s.phase, coalesce(s.device_ns, s.host_ns) AS time_ns, count(*) OVER (PARTITION BY s.run_id, s.rank, s.phase) AS steps,
         row_number() OVER (PARTITION BY s.run_id, s.rank, s.phase ORDER BY coalesce(s.device_ns, s.host_ns)) AS place
  FROM sample s WHERE s.pass = 'time' AND s.warmup = 0
) t
GROUP BY t.run_id, t.rank, t.phase
;
CREATE VIEW rank_spread AS
SELECT t.run_id,                                                         -- the run
       count(*) AS ranks,                                                -- ranks that measured
       avg(t.median_ms) AS mean_ms,                                      -- mean of the ranks' median steps
       min(t.median_ms) AS fastest_ms,                                   -- shortest median step of a rank
       max(t.median_ms) AS slowest_ms,                                   -- longest
       max(t.median_ms) - min(t.median_ms) AS spread_ms,                 -- their difference
       min(CASE t.place WHEN 1 THEN t.rank END) AS slowest_rank          -- rank with the longest, of several the lowest
FROM (SELECT run_id, rank, median_ms, row_number() OVER (PARTITION BY run_id ORDER BY median_ms DESC, rank) AS place FROM rank_time WHERE phase = 'step') t
GROUP BY t.run_id
;
CREATE VIEW run_machine AS
SELECT r.run_id,                                                         -- the run
       coalesce((SELECT group_concat(h.part, ', ') FROM (
         SELECT DISTINCT coalesce(d.name, r.device_kind) || CASE k.host WHEN '' THEN '' ELSE ' on ' || k.host END AS part
         FROM rank k LEFT JOIN device d ON d.device_id = k.device_id WHERE k.run_id = r.run_id ORDER BY 1) h), r.device_kind) AS machine  -- devices of its ranks and their hosts
FROM run r
;
CREATE VIEW all_reduce_bandwidth AS
SELECT t.run_id,                                                         -- the run
       t.machine,                                                        -- as in run_machine
       t.backend,                                                        -- gloo or nccl
       t.operation,                                                      -- all_reduce, reduce_scatter, all_gather or broadcast
       t.dtype,                                                          -- element type
       t.in_place,                                                       -- 1 if input and output are the same tensor
       t.ranks,                                                          -- processes
       t.bytes,                                                          -- message of a rank; of reduce_scatter its input, of all_gather its output
       t.steps,                                                          -- steps that count; NULL, as are the figures, if the run did not end well
       t.calls,                                                          -- calls in a step
       t.median_ms,                                                      -- median step over its calls
       t.mean_ms,                                                        -- mean step over its calls
       t.std_ms,                                                         -- its standard deviation
       t.slowest_rank,                                                   -- rank whose median step is the longest
       t.spread_ms,                                                      -- the longest median step of a rank less the shortest, over the calls
       t.bytes / nullif(t.median_ms, 0) / 1e6 AS algbw_gb_s,             -- message over median step, in GB/s
       t.bytes / nullif(t.median_ms, 0) / 1e6 * t.bus_factor AS busbw_gb_s  -- times 2(n−1)/n for an all_reduce, (n−1)/n for reduce_scatter and all_gather, 1 for a broadcast, as nccl-tests has it; 0 for one rank, save for a broadcast
FROM (
  SELECT r.run_id, m.machine, r.ranks, q.operation, q.dtype, q.in_place, q.calls, p.count AS steps, p.median_ms / q.calls AS median_ms, p.mean_ms / q.calls AS mean_ms,
         p.std_ms / q.calls AS std_ms, w.slowest_rank, w.spread_ms / q.calls AS spread_ms,
         CASE coalesce(q.backend, 'auto') WHEN 'auto' THEN CASE r.device_kind WHEN 'cuda' THEN 'nccl' ELSE 'gloo' END ELSE q.backend END AS backend,
         coalesce((SELECT max(v.value) FROM metric v WHERE v.run_id = r.run_id AND v.name = 'message_bytes'), q.bytes) AS bytes,
         CASE q.operation WHEN 'all_reduce' THEN 2.0 * (r.ranks - 1) / r.ranks WHEN 'broadcast' THEN 1.0 ELSE 1.0 * (r.ranks - 1) / r.ranks END AS bus_factor
  FROM (SELECT o.run_id, max(CASE x.name WHEN 'backend' THEN x.value END) AS backend, max(CASE x.name WHEN 'bytes' THEN x.value END) AS bytes,
               coalesce(max(CASE x.name WHEN 'dtype' THEN x.value END), 'fp32') AS dtype, coalesce(max(CASE x.name WHEN 'in_place' THEN x.value END), 1) AS in_place,
               coalesce(max(CASE x.name WHEN 'calls' THEN 1.0 * x.value END), 1) AS calls,
               coalesce(max(CASE x.name WHEN 'operation' THEN x.value END), 'all_reduce') AS operation
        FROM run o LEFT JOIN param x ON x.run_id = o.run_id WHERE o.workload = 'all_reduce' GROUP BY o.run_id) q
  JOIN run r ON r.run_id = q.run_id
  JOIN run_machine m ON m.run_id = r.run_id
  LEFT JOIN phase_time p ON p.run_id = r.run_id AND p.phase = 'step' AND p.status = 'ok'
  LEFT JOIN rank_spread w ON w.run_id = r.run_id
) t
;
CREATE VIEW all_reduce_fit AS
WITH newest AS (
  SELECT t.* FROM (SELECT b.*, row_number() OVER (PARTITION BY b.machine, b.backend, b.ranks, b.dtype, b.in_place, b.bytes ORDER BY b.run_id DESC) AS place
                   FROM all_reduce_bandwidth b WHERE b.operation = 'all_reduce' AND b.ranks > 1 AND b.bytes > 0 AND b.median_ms > 0) t
  WHERE t.place = 1
),
total AS (
  SELECT machine, backend, ranks, dtype, in_place, count(*) AS sizes, min(bytes) AS smallest_bytes, max(bytes) AS largest_bytes, max(run_id) AS newest_run_id,
         sum(1 / (median_ms / 1e3 * median_ms / 1e3)) AS w, sum(bytes / (median_ms / 1e3 * median_ms / 1e3)) AS wx, sum(1 / (median_ms / 1e3)) AS wy,
         sum(1.0 * bytes * bytes / (median_ms / 1e3 * median_ms / 1e3)) AS wxx, sum(bytes / (median_ms / 1e3)) AS wxy
  FROM newest GROUP BY machine, backend, ranks, dtype, in_place
),
line AS (
  SELECT t.*, (t.w * t.wxy - t.wx * t.wy) / (t.w * t.wxx - t.wx * t.wx) AS slope FROM total t WHERE t.sizes > 1
),
kept AS (
  SELECT l.*, CASE WHEN l.slope <= 0 THEN l.wy / l.w WHEN l.wy < l.slope * l.wx THEN 0.0 ELSE (l.wy - l.slope * l.wx) / l.w END AS alpha_s,
         CASE WHEN l.slope <= 0 THEN NULL WHEN l.wy < l.slope * l.wx THEN l.wxy / l.wxx ELSE l.slope END AS s_per_byte
  FROM line l
)
SELECT k.machine,                                                        -- as in run_machine
       k.backend,                                                        -- gloo or nccl
       k.ranks,                                                          -- processes
       k.dtype,                                                          -- element type
       k.in_place,                                                       -- 1 if input and output are the same tensor
       k.sizes,                                                          -- message sizes that the fit goes through; two fit exactly
       k.smallest_bytes,                                                 -- smallest of them
       k.largest_bytes,                                                  -- largest
       k.newest_run_id,                                                  -- newest run among them
       k.alpha_s * 1e6 AS alpha_us,                                      -- time of a call that the size does not matter for
       1 / k.s_per_byte / 1e9 AS bandwidth_gb_s,                         -- further bytes per time, in GB/s, of the kind of algbw; NULL if time does not grow with size
       (SELECT max(abs((k.alpha_s + n.bytes * coalesce(k.s_per_byte, 0)) / (n.median_ms / 1e3) - 1)) FROM newest n
        WHERE n.machine = k.machine AND n.backend = k.backend AND n.ranks = k.ranks AND n.dtype = k.dtype AND n.in_place = k.in_place) AS largest_error  -- largest relative distance of the fit from a measured time
FROM kept k
;
CREATE VIEW bucket_prediction AS
WITH RECURSIVE bucketed AS (
  SELECT d.run_id, d.setting, d.family, d.machine, d.backend, d.ranks, d.dtype, d.bucket_mb, 1048576.0 * d.bucket_mb AS bucket_bytes, p.median_ms,
         (SELECT CAST(max(v.value) AS INTEGER) FROM metric v WHERE v.run_id = d.run_id AND v.name = 'gradient_bytes') AS gradient_bytes,
         coalesce((SELECT max(v.value) FROM metric v WHERE v.run_id = d.run_id AND v.name = 'parameter_tensors'), 9e18) AS tensors,
         (SELECT b.median_ms
          FROM (SELECT a.run_id, q.median_ms, a.workload = d.workload AS same_workload, coalesce(a.bucket_mb = d.bucket_mb, 0) AS same_bucket
                FROM ddp_run a JOIN phase_time q ON q.run_id = a.run_id AND q.phase = 'step' AND q.status = 'ok'
                WHERE a.family = d.family AND a.communicate = 0) b
          ORDER BY b.same_workload DESC, b.same_bucket DESC, b.run_id DESC LIMIT 1) AS silent_ms
  FROM ddp_run d
  JOIN phase_time p ON p.run_id = d.run_id AND p.phase = 'step' AND p.status = 'ok'
  WHERE d.workload = 'ddp_bucketed' AND d.communicate = 1 AND d.bucket_mb > 0
),
fitted AS (
  SELECT t.* FROM (
    SELECT b.*, f.alpha_us / 1e6 AS o, f.bandwidth_gb_s * 1e9 AS w, 
           CAST(min(CAST(b.gradient_bytes / b.bucket_bytes AS INTEGER) + (b.gradient_bytes / b.bucket_bytes > CAST(b.gradient_bytes / b.bucket_bytes AS INTEGER)), b.tensors) AS INTEGER) AS buckets,
           row_number() OVER (PARTITION BY b.run_id ORDER BY f.in_place DESC) AS place
    FROM bucketed b
    LEFT JOIN all_reduce_fit f ON f.machine = b.machine AND f.backend = b.backend AND f.ranks = b.ranks AND f.dtype = b.dtype AND f.bandwidth_gb_s IS NOT NULL
  ) t WHERE t.place = 1
),
root (run_id, square, guess, turn) AS (
  SELECT run_id, o * gradient_bytes * w, max(o * gradient_bytes * w, 1), 0 FROM fitted WHERE o * gradient_bytes * w > 0
  UNION ALL
  SELECT run_id, square, (guess + square / guess) / 2, turn + 1 FROM root WHERE turn < 80 AND abs(guess * guess - square) > 1e-12 * square
)
SELECT f.run_id,                                                         -- the run
       f.setting,                                                        -- as in ddp_run
       f.family,                                                         -- the same
       f.bucket_mb,                                                      -- most MiB of a bucket
       f.gradient_bytes,                                                 -- size of all gradients
       f.buckets,                                                        -- buckets, by that count
       (SELECT sum(c.calls) FROM collective_summary c WHERE c.run_id = f.run_id AND c.pass = 'trace' AND c.operation = 'all_reduce') AS calls,  -- all_reduce calls per step that the trace saw; NULL without a trace
       f.o * 1e6 AS alpha_us,                                            -- time per call, from all_reduce_fit; NULL if there is none for this machine, backend, ranks and element type
       f.w / 1e9 AS bandwidth_gb_s,                                      -- bandwidth from there
       f.silent_ms,                                                      -- median step of a run of the same family that does not exchange gradients; NULL without
       (f.gradient_bytes / (f.buckets * f.w) + f.buckets * f.o) * 1e3 AS predicted_overhead_ms,  -- s/(n·w) + n·o
       f.silent_ms + (f.gradient_bytes / (f.buckets * f.w) + f.buckets * f.o) * 1e3 AS predicted_ms,  -- step without exchange plus overhead
       f.median_ms AS measured_ms,                                       -- measured median step
       f.median_ms - f.silent_ms AS measured_overhead_ms,                -- measured step less that without exchange
       (f.silent_ms + (f.gradient_bytes / (f.buckets * f.w) + f.buckets * f.o) * 1e3) / nullif(f.median_ms, 0) - 1 AS error,  -- predicted over measured step, less 1
       CASE WHEN f.o * f.w = 0 THEN 0.0 ELSE (SELECT r.guess FROM root r WHERE r.run_id = f.run_id ORDER BY r.turn DESC LIMIT 1) / 1048576 END AS best_bucket_mb,  -- where the model has its minimum: √(o·s·w), in MiB; 0 if calls cost nothing
       (SELECT b.bucket_mb FROM bucketed b WHERE b.family = f.family ORDER BY b.median_ms, b.run_id DESC LIMIT 1) AS best_measured_bucket_mb  -- bucket of the fastest run of the family
FROM fitted f
;
CREATE VIEW ddp_run AS
SELECT t.run_id,                                                         -- the run
       t.workload,                                                       -- ddp_naive, ddp_flat, ddp_overlap, ddp_bucketed, ddp_torch or sharded_optimizer
       t.workload || CASE WHEN t.communicate = 0 THEN ', no exchange'
                          WHEN t.scheme IS NOT NULL THEN ', ' || t.scheme || CASE WHEN t.scheme = 'broadcast' AND t.flat = 0 THEN ' one by one' WHEN t.scheme = 'zero1' AND t.overlap = 0 THEN ' after backward' ELSE '' END
                          WHEN t.bucket_mb IS NOT NULL THEN ', ' || printf('%g', t.bucket_mb) || ' MiB' || CASE t.gradients WHEN 'separate' THEN ', separate' ELSE '' END
                          WHEN t.copy = 1 THEN ', copied' ELSE '' END AS strategy,  -- workload with what sets it apart: size of its buckets, scheme of sharding, or that gradients are not exchanged
       CASE t.workload WHEN 'ddp_naive' THEN 0 WHEN 'ddp_flat' THEN 1 WHEN 'ddp_overlap' THEN 2 WHEN 'ddp_bucketed' THEN 3 WHEN 'ddp_torch' THEN 4 ELSE 5 END
         + CASE t.communicate WHEN 0 THEN 10 ELSE 0 END AS strategy_order,  -- place among the strategies
       t.model,                                                          -- name of the model
       t.context,                                                        -- tokens per sequence
       t.batch,                                                          -- sequences of each rank in a step
       t.dtype || CASE t.autocast WHEN 1 THEN ' autocast' ELSE '' END AS precision,  -- element type, and whether autocast chose it
       t.dtype,                                                          -- element type of parameters and gradients
       t.backend,                                                        -- gloo or nccl
       t.ranks,                                                          -- processes
       t.communicate,                                                    -- 0 if gradients are not exchanged, which gives wrong training and the time of computing alone
       CASE WHEN t.scheme IS NULL OR t.scheme = 'zero1' THEN t.bucket_mb END AS bucket_mb,  -- most MiB of a bucket; NULL if it has no buckets
       t.scheme,                                                         -- none, broadcast or zero1; NULL if it is not about sharding
       t.machine,                                                        -- as in run_machine
       t.model || ', context ' || t.context || ', batch ' || t.batch || ', ' || t.dtype || CASE t.autocast WHEN 1 THEN ' autocast' ELSE '' END || ', ' || t.backend || ', '
         || t.ranks || CASE t.ranks WHEN 1 THEN ' rank' ELSE ' ranks' END AS setting,  -- model, batch, precision, backend and ranks in words
       t.model || '|' || t.context || '|' || t.batch || '|' || t.dtype || '|' || t.autocast || '|' || t.attention || '|' || t.optimizer || '|' || t.backend || '|' || t.ranks || '|'
         || t.wrapped || '|' || t.sync || '|' || t.machine AS family                         -- what runs share that differ in strategy alone
FROM (
  SELECT r.run_id, r.workload, r.ranks, r.sync, m.machine, p.bucket_mb, p.scheme, coalesce(p.model, '') AS model, coalesce(p.context, 0) AS context, coalesce(p.batch, 0) AS batch,
         coalesce(p.dtype, 'fp32') AS dtype, coalesce(p.autocast, 0) AS autocast, coalesce(p.attention, '') AS attention, coalesce(p.optimizer, '') AS optimizer,
         coalesce(p.wrapped, 'configured') AS wrapped, p.copy, p.gradients, p.flat, p.overlap,
         coalesce(p.communicate, 1) AS communicate,
         CASE coalesce(p.backend, 'auto') WHEN 'auto' THEN CASE r.device_kind WHEN 'cuda' THEN 'nccl' ELSE 'gloo' END ELSE p.backend END AS backend
  FROM run r
  JOIN run_machine m ON m.run_id = r.run_id
  LEFT JOIN (
    SELECT q.run_id, max(CASE q.name WHEN 'model' THEN q.value END) AS model, max(CASE q.name WHEN 'context' THEN q.value END) AS context,
           max(CASE q.name WHEN 'batch' THEN q.value END) AS batch, max(CASE q.name WHEN 'dtype' THEN q.value END) AS dtype,
           max(CASE q.name WHEN 'autocast' THEN q.value END) AS autocast, max(CASE q.name WHEN 'attention' THEN q.value END) AS attention,
           max(CASE q.name WHEN 'optimizer' THEN q.value END) AS optimizer, max(CASE q.name WHEN 'backend' THEN q.value END) AS backend,
           max(CASE q.name WHEN 'communicate' THEN q.value END) AS communicate, max(CASE q.name WHEN 'bucket_mb' THEN q.value END) AS bucket_mb,
           max(CASE q.name WHEN 'scheme' THEN q.value END) AS scheme, max(CASE q.name WHEN 'wrapped' THEN q.value END) AS wrapped,
           max(CASE q.name WHEN 'copy' THEN q.value END) AS copy, max(CASE q.name WHEN 'gradients' THEN q.value END) AS gradients,
           max(CASE q.name WHEN 'flat' THEN q.value END) AS flat, max(CASE q.name WHEN 'overlap' THEN q.value END) AS overlap
    FROM param q GROUP BY q.run_id
  ) p ON p.run_id = r.run_id
  WHERE r.workload LIKE 'ddp\_%' ESCAPE '\' OR r.workload = 'sharded_optimizer'
) t
;
CREATE VIEW ddp_summary AS
SELECT t.run_id,                                                         -- the run
       t.strategy,                                                       -- as in ddp_run
       t.strategy_order,                                                 -- the same
       t.setting,                                                        -- the same
       t.family,                                                         -- the same
       t.median_ms,                                                      -- median step; of each step the slowest rank counts
       t.mean_ms,                                                        -- mean step
       t.std_ms,                                                         -- its standard deviation
       t.slowest_rank,                                                   -- rank whose median step is the longest
       t.spread_ms,                                                      -- the longest median step of a rank less the shortest
       t.rank_step_ms,                                                   -- mean step of all ranks
       t.forward_ms,                                                     -- phase forward
       t.backward_ms,                                                    -- phase backward, with what is exchanged meanwhile
       t.communication_ms,                                               -- phase communication: what backward does not hide
       t.optimizer_ms,                                                   -- phase optimizer, with what it exchanges
       t.communication_ms / nullif(t.rank_step_ms, 0) AS communication_share,  -- of the mean step of all ranks
       o.communication_ms AS traced_communication_ms,                    -- kernels of communication ran, per step, mean over ranks; NULL without a trace of a GPU
       o.exposed_ms,                                                     -- of them while nothing else ran: exposed communication
       o.overlap_share,                                                  -- share of communication during which something computed
       1.0 * n.median_ms / nullif(t.median_ms, 0) AS speedup,            -- median step of ddp_naive over that of this run: the newest run of the same family, of the same invocation if there is one; NULL without
       t.parameter_tensors,                                              -- tensors that are trained, as the workload says
       t.gradient_bytes,                                                 -- size of their gradients
       t.ranks * t.tokens_per_step * 1e3 / nullif(t.median_ms, 0) AS tokens_per_s  -- tokens of all ranks over the median step; NULL if the workload does not say
FROM (
  SELECT d.*, p.median_ms, p.mean_ms, p.std_ms, w.slowest_rank, w.spread_ms, f.rank_step_ms, f.forward_ms, f.backward_ms, f.communication_ms, f.optimizer_ms,
         v.parameter_tensors, v.gradient_bytes, v.tokens_per_step,
         (SELECT e.run_id
          FROM (SELECT b.run_id, c.invocation_id = r.invocation_id AS same_invocation FROM ddp_run b JOIN run c ON c.run_id = b.run_id AND c.status = 'ok'
                WHERE b.workload = 'ddp_naive' AND b.communicate = 1 AND b.family = d.family) e
          ORDER BY e.same_invocation DESC, e.run_id DESC LIMIT 1) AS naive_run_id
  FROM ddp_run d
  JOIN run r ON r.run_id = d.run_id
  LEFT JOIN phase_time p ON p.run_id = d.run_id AND p.phase = 'step' AND p.status = 'ok'
  LEFT JOIN rank_spread w ON w.run_id = d.run_id AND r.status = 'ok'
  LEFT JOIN (
    SELECT run_id, avg(CASE phase WHEN 'step' THEN mean_ms END) AS rank_step_ms, avg(CASE phase WHEN 'forward' THEN mean_ms END) AS forward_ms,
           avg(CASE phase WHEN 'backward' THEN mean_ms END) AS backward_ms, avg(CASE phase WHEN 'communication' THEN mean_ms END) AS communication_ms,
           avg(CASE phase WHEN 'optimizer' THEN mean_ms END) AS optimizer_ms
    FROM rank_time GROUP BY run_id
  ) f ON f.run_id = d.run_id AND r.status = 'ok'
  LEFT JOIN (
    SELECT run_id, CAST(max(CASE name WHEN 'parameter_tensors' THEN value END) AS INTEGER) AS parameter_tensors, CAST(max(CASE name WHEN 'gradient_bytes' THEN value END) AS INTEGER) AS gradient_bytes,
           max(CASE name WHEN 'tokens_per_step' THEN value END) AS tokens_per_step
    FROM metric GROUP BY run_id
  ) v ON v.run_id = d.run_id
) t
LEFT JOIN phase_time n ON n.run_id = t.naive_run_id AND n.phase = 'step'
LEFT JOIN (
  SELECT run_id, avg(communication_ms) AS communication_ms, avg(exposed_ms) AS exposed_ms, sum(overlap_ms) / nullif(sum(communication_ms), 0) AS overlap_share
  FROM communication_overlap WHERE phase = 'step' GROUP BY run_id
) o ON o.run_id = t.run_id
;
CREATE VIEW sharding_memory AS
WITH moment AS (
  SELECT t.* FROM (
    SELECT d.run_id, m.rank, m.pass, d.scheme, d.setting, d.family, r.invocation_id, r.device_kind, m.name, m.time_ns, m.step,
           row_number() OVER (PARTITION BY m.run_id, m.rank, m.name ORDER BY coalesce(s.warmup, 0), m.step, m.sequence) AS place
    FROM ddp_run d
    JOIN run r ON r.run_id = d.run_id
    JOIN mark m ON m.run_id = d.run_id AND m.pass = 'memory' AND m.name IN ('model_ready', 'optimizer_ready', 'before_optimizer', 'after_optimizer')
    LEFT JOIN sample s ON s.run_id = m.run_id AND s.rank = m.rank AND s.pass = m.pass AND s.step = m.step AND s.phase = 'step'
    WHERE d.workload = 'sharded_optimizer'
  ) t WHERE t.place = 1
),
held AS (
  SELECT o.*, (SELECT p.sequence FROM memory_point p WHERE p.run_id = o.run_id AND p.rank = o.rank AND p.pass = o.pass AND p.device = o.device_kind AND p.time_ns <= o.time_ns
               ORDER BY p.sequence DESC LIMIT 1) AS point
  FROM moment o
)
SELECT h.run_id,                                                         -- the run
       h.rank,                                                           -- its rank
       h.scheme,                                                         -- none, broadcast or zero1
       h.setting,                                                        -- as in ddp_run
       h.family,                                                         -- the same
       h.name AS moment,                                                 -- model_ready, optimizer_ready, before_optimizer or after_optimizer
       CASE h.name WHEN 'model_ready' THEN 0 WHEN 'optimizer_ready' THEN 1 WHEN 'before_optimizer' THEN 2 ELSE 3 END AS place,  -- their order
       h.step,                                                           -- step of the mark; −1 outside of steps
       p.allocated_bytes,                                                -- handed out by the allocator; NULL if no point is known
       p.parameter_bytes,                                                -- allocated sizes of the live blocks of that category
       p.gradient_bytes,                                                 -- the same
       p.optimizer_state_bytes,                                          -- the same
       p.activation_bytes,                                               -- the same
       p.workspace_bytes + p.input_bytes + p.unknown_bytes AS rest_bytes,  -- of all other categories
       (SELECT max(v.value) FROM metric v WHERE v.run_id = h.run_id AND v.rank = h.rank AND v.name = 'optimizer_state_bytes') AS declared_state_bytes,  -- size of the optimizer state of this rank, as the workload counts it; NULL if it does not
       1.0 * p.optimizer_state_bytes / nullif((
         SELECT w.optimizer_state_bytes
         FROM (SELECT u.run_id, y.optimizer_state_bytes, u.invocation_id = h.invocation_id AS same_invocation
               FROM held u JOIN memory_point y ON y.run_id = u.run_id AND y.rank = u.rank AND y.pass = u.pass AND y.sequence = u.point
               WHERE u.scheme = 'none' AND u.family = h.family AND u.rank = h.rank AND u.name = h.name) w
         ORDER BY w.same_invocation DESC, w.run_id DESC LIMIT 1), 0) AS state_share  -- optimizer state over that of the same rank and moment in the newest run without sharding of the same family; NULL without
FROM held h
LEFT JOIN memory_point p ON p.run_id = h.run_id AND p.rank = h.rank AND p.pass = h.pass AND p.sequence = h.point
;
CREATE VIEW sharding_time AS
SELECT d.run_id,                                                         -- the run
       d.scheme,                                                         -- none, broadcast or zero1
       CASE d.scheme WHEN 'none' THEN 0 WHEN 'broadcast' THEN 1 ELSE 2 END AS place,  -- their order
       d.setting,                                                        -- as in ddp_run
       x.mean_ms,                                                        -- mean step; of each step the slowest rank counts
       x.std_ms,                                                         -- its standard deviation
       x.optimizer_ms,                                                   -- phase optimizer, with what it exchanges
       x.communication_ms,                                               -- phase communication
       x.median_ms / (SELECT y.median_ms FROM ddp_summary y JOIN ddp_run n ON n.run_id = y.run_id AND n.scheme = 'none' AND n.communicate = d.communicate
                      WHERE y.family = x.family AND y.median_ms > 0 ORDER BY y.run_id DESC LIMIT 1) AS unsharded_ratio,  -- median step over that of the newest run without sharding of the same family; NULL without
       (SELECT max(v.value) FROM metric v WHERE v.run_id = d.run_id AND v.name = 'optimizer_state_bytes') AS state_bytes,  -- optimizer state of the rank that holds the most, as the workload counts it; NULL if it does not
       m.allocated_peak_bytes AS peak_bytes,                             -- largest allocated size of any rank in the time pass; NULL on a CPU
       (SELECT sum(c.calls) FROM collective_summary c WHERE c.run_id = d.run_id AND c.pass = 'trace') AS calls,  -- between ranks, per step, from the trace; NULL without
       (SELECT sum(c.bus_bytes) FROM collective_summary c WHERE c.run_id = d.run_id AND c.pass = 'trace') AS traffic_bytes  -- what a rank moves over its links in a step, likewise
FROM ddp_run d
JOIN ddp_summary x ON x.run_id = d.run_id
LEFT JOIN run_memory m ON m.run_id = d.run_id
WHERE d.workload = 'sharded_optimizer'
;
CREATE VIEW kernel_pass AS
SELECT k.run_id,  -- the run
       k.rank,    -- its rank
       k.pass     -- trace or ops
FROM rank k
WHERE (k.pass = 'trace'
       OR k.pass = 'ops' AND NOT EXISTS (SELECT 1 FROM kernel_total o WHERE o.run_id = k.run_id AND o.rank = k.rank AND o.pass = 'trace'))
  AND EXISTS (SELECT 1 FROM kernel_total t WHERE t.run_id = k.run_id AND t.rank = k.rank AND t.pass = k.pass)
;
CREATE VIEW kernel_entry AS
SELECT t.run_id,                                     -- the run
       t.rank,                                       -- rank that launched them
       t.pass,                                       -- pass they ran in
       t.kind,                                       -- kernel, memcpy or memset
       t.phase_id,                                   -- row of string with the phase; NULL if it is unknown or outside of phases
       coalesce((SELECT p.text FROM string p WHERE p.string_id = t.phase_id), 'other') AS phase,  -- phase that launched them; `other` outside of phases
       t.scope_id,                                   -- row of string with the path of scopes; NULL if no scope is known
       (SELECT q.module FROM scope_path q WHERE q.scope_id = t.scope_id) AS module,  -- that path without the numbers of repeated parts
       t.attribution,                                -- how they were placed, as in kernel
       t.name_id,                                    -- row of string with the name
       coalesce((SELECT c.class FROM kernel_class c WHERE c.name_id = t.name_id),
                CASE t.kind WHEN 'memcpy' THEN 'copy' WHEN 'memset' THEN 'memset' ELSE 'other' END) AS class,  -- what kind of kernel it is
       t.steps,                                      -- measured steps that the sums go over
       t.calls,                                      -- how many ran
       t.bytes,                                      -- copied or set; 0 for kernels
       t.total_ns,                                   -- sum of their durations
       t.min_ns,                                     -- shortest
       t.max_ns                                      -- longest
FROM kernel_pass k
CROSS JOIN kernel_total t ON t.run_id = k.run_id AND t.rank = k.rank AND t.pass = k.pass
;
CREATE VIEW kernel_summary AS
SELECT g.run_id,                                                         -- the run
       g.rank,                                                           -- rank that launched it
       g.pass,                                                           -- pass it ran in
       CASE WHEN g.whole THEN 'step' ELSE coalesce(p.text, 'other') END AS phase,  -- phase that launched it; `step` is the whole step, `other` outside of phases
       coalesce(c.class, CASE g.kind WHEN 'memcpy' THEN 'copy' WHEN 'memset' THEN 'memset' ELSE 'other' END) AS class,  -- what kind of kernel it is
       coalesce(c.short_name, n.text) AS short_name,                     -- name without template arguments, parameters and namespaces
       n.text AS name,                                                   -- full name
       g.steps,                                                          -- measured steps
       1.0 * g.calls / g.steps AS calls,                                 -- calls per step
       g.total_ns / 1e6 / g.steps AS total_ms,                           -- time per step
       g.total_ns / 1e3 / g.calls AS mean_us,                            -- mean duration of a call
       g.min_ns / 1e3 AS min_us,                                         -- shortest call
       g.max_ns / 1e3 AS max_us,                                         -- longest call
       1.0 * g.total_ns / nullif(g.phase_ns, 0) AS share_of_phase,       -- of the device time of all names in that phase
       1.0 * g.total_ns / nullif(sum(CASE WHEN g.whole THEN g.total_ns END) OVER (PARTITION BY g.run_id, g.rank), 0) AS share_of_step  -- of the device time of the whole step
FROM (
  SELECT *, sum(total_ns) OVER (PARTITION BY run_id, rank, whole, phase_id) AS phase_ns
  FROM (
    SELECT m.run_id, m.rank, m.pass, b.whole, CASE WHEN b.whole THEN NULL ELSE m.phase_id END AS phase_id, m.name_id, m.kind, m.steps,
           CASE WHEN b.whole THEN m.step_calls ELSE m.calls END AS calls, CASE WHEN b.whole THEN m.step_ns ELSE m.total_ns END AS total_ns,
           CASE WHEN b.whole THEN m.step_min_ns ELSE m.min_ns END AS min_ns, CASE WHEN b.whole THEN m.step_max_ns ELSE m.max_ns END AS max_ns
    FROM (
      SELECT *, sum(calls) OVER (PARTITION BY run_id, rank, name_id) AS step_calls, sum(total_ns) OVER (PARTITION BY run_id, rank, name_id) AS step_ns,
             min(min_ns) OVER (PARTITION BY run_id, rank, name_id) AS step_min_ns, max(max_ns) OVER (PARTITION BY run_id, rank, name_id) AS step_max_ns,
             coalesce(phase_id, 0) = min(coalesce(phase_id, 0)) OVER (PARTITION BY run_id, rank, name_id) AS is_first
      FROM (
        SELECT run_id, rank, pass, phase_id, name_id, max(kind) AS kind, max(steps) AS steps, sum(calls) AS calls, sum(total_ns) AS total_ns,
               min(min_ns) AS min_ns, max(max_ns) AS max_ns
        FROM kernel_entry GROUP BY run_id, rank, pass, phase_id, name_id
      )
    ) m
    JOIN (SELECT 0 AS whole UNION ALL SELECT 1) b ON b.whole = 0 OR m.is_first
  )
) g
JOIN string n ON n.string_id = g.name_id
LEFT JOIN string p ON p.string_id = g.phase_id
LEFT JOIN kernel_class c ON c.name_id = g.name_id
;
CREATE VIEW kernel_by_phase AS
SELECT g.run_id,                                                         -- the run
       g.rank,                                                           -- rank that launched them
       g.pass,                                                           -- pass they ran in
       CASE WHEN g.whole THEN 'step' ELSE coalesce(p.text, 'other') END AS phase,  -- phase; `step` is the whole step, `other` outside of phases
       g.class,                                                          -- class of kernels
       1.0 * g.calls / g.steps AS calls,                                 -- calls per step
       g.total_ns / 1e6 / g.steps AS total_ms,                           -- time per step
       1.0 * g.total_ns / nullif(g.phase_ns, 0) AS share_of_phase,       -- of the device time of that phase
       1.0 * g.total_ns / nullif(sum(CASE WHEN g.whole THEN g.total_ns END) OVER (PARTITION BY g.run_id, g.rank), 0) AS share_of_step  -- of the device time of the whole step
FROM (
  SELECT *, sum(total_ns) OVER (PARTITION BY run_id, rank, whole, phase_id) AS phase_ns
  FROM (
    SELECT m.run_id, m.rank, m.pass, b.whole, CASE WHEN b.whole THEN NULL ELSE m.phase_id END AS phase_id, m.class, m.steps,
           CASE WHEN b.whole THEN m.step_calls ELSE m.calls END AS calls, CASE WHEN b.whole THEN m.step_ns ELSE m.total_ns END AS total_ns
    FROM (
      SELECT *, sum(calls) OVER (PARTITION BY run_id, rank, class) AS step_calls, sum(total_ns) OVER (PARTITION BY run_id, rank, class) AS step_ns,
             coalesce(phase_id, 0) = min(coalesce(phase_id, 0)) OVER (PARTITION BY run_id, rank, class) AS is_first
      FROM (
        SELECT run_id, rank, pass, phase_id, class, max(steps) AS steps, sum(calls) AS calls, sum(total_ns) AS total_ns
        FROM kernel_entry GROUP BY run_id, rank, pass, phase_id, class
      )
    ) m
    JOIN (SELECT 0 AS whole UNION ALL SELECT 1) b ON b.whole = 0 OR m.is_first
  )
) g
LEFT JOIN string p ON p.string_id = g.phase_id
;
CREATE VIEW kernel_by_scope AS
SELECT g.run_id,                                                         -- the run
       g.rank,                                                           -- rank that launched them
       g.pass,                                                           -- pass they ran in
       g.phase,                                                          -- phase; `other` outside of phases
       g.module,                                                         -- path of scopes without the numbers of repeated parts; NULL if no scope is known
       g.class,                                                          -- class of kernels
       1.0 * g.calls / g.steps AS calls,                                 -- calls per step
       g.total_ns / 1e6 / g.steps AS total_ms,                           -- time per step
       1.0 * g.total_ns / nullif(g.phase_ns, 0) AS share_of_phase,       -- of the device time of that phase
       1.0 * g.total_ns / nullif(sum(g.total_ns) OVER (PARTITION BY g.run_id, g.rank), 0) AS share_of_step  -- of the device time of the whole step
FROM (
  SELECT *, sum(total_ns) OVER (PARTITION BY run_id, rank, phase) AS phase_ns
  FROM (
    SELECT run_id, rank, pass, phase, module, class, max(steps) AS steps, sum(calls) AS calls, sum(total_ns) AS total_ns
    FROM kernel_entry GROUP BY run_id, rank, pass, phase, module, class
  )
) g
;
CREATE VIEW matmul_share AS
SELECT c.run_id,                                                         -- the run
       c.rank,                                                           -- its rank
       c.pass,                                                           -- pass the kernels ran in
       c.phase,                                                          -- phase; `step` is the whole step, `other` outside of phases
       c.device_ms,                                                      -- device time per step of all kernels, copies and memsets
       c.matmul_ms,                                                      -- of those of class matmul
       c.matmul_ms / nullif(c.device_ms, 0) AS matmul_share,             -- of the device time
       CASE WHEN c.class <> 'matmul' THEN c.class END AS largest_other,  -- class with the most time beside it; NULL if there is none
       CASE WHEN c.class <> 'matmul' THEN c.share_of_phase END AS largest_other_share  -- its share
FROM (
  SELECT *, row_number() OVER (PARTITION BY run_id, rank, phase ORDER BY class = 'matmul', total_ms DESC, class) AS place
  FROM (
    SELECT *, sum(total_ms) OVER (PARTITION BY run_id, rank, phase) AS device_ms,
           sum(CASE class WHEN 'matmul' THEN total_ms ELSE 0.0 END) OVER (PARTITION BY run_id, rank, phase) AS matmul_ms
    FROM kernel_by_phase
  )
) c
WHERE c.place = 1
;
CREATE VIEW attention_breakdown AS
SELECT t.run_id,                                                         -- the run
       t.rank,                                                           -- its rank
       t.pass,                                                           -- pass the time was taken in
       t.clock,                                                          -- device or host
       t.part,                                                           -- scores (query times key), softmax, or values (weights times value)
       t.total_ms,                                                       -- time per step, over all layers
       t.total_ms / nullif(sum(t.total_ms) OVER (PARTITION BY t.run_id, t.rank), 0) AS time_share,  -- of the three parts' time
       t.flops,                                                          -- floating-point operations per step as the workload counts them; NULL if it does not
       t.flops / sum(t.flops) OVER (PARTITION BY t.run_id, t.rank) AS flops_share,  -- of the three parts' operations
       t.flops / nullif(t.total_ms / 1e3, 0) AS flops_per_s              -- operations per second
FROM (
  SELECT m.run_id, m.rank, m.pass, m.clock, m.part, m.total_ms,
         (SELECT x.value FROM metric x WHERE x.run_id = m.run_id AND x.rank = m.rank AND x.level = 'run' AND x.name = 'attention_' || m.part || '_flops'
          ORDER BY x.pass <> 'time', x.pass, x.sequence LIMIT 1) AS flops
  FROM (
    SELECT e.run_id, e.rank, e.pass, 'device' AS clock, p.part, sum(e.total_ns) / 1e6 / max(e.steps) AS total_ms
    FROM kernel_entry e
    JOIN (SELECT q.scope_id, w.part FROM scope_path q
          JOIN (SELECT 'scores' AS part UNION ALL SELECT 'softmax' UNION ALL SELECT 'values') w ON q.module = w.part OR '/' || q.module LIKE '%/attention/' || w.part) p
      ON p.scope_id = e.scope_id
    WHERE e.phase_id = (SELECT f.string_id FROM string f WHERE f.text = 'forward')
    GROUP BY e.run_id, e.rank, e.pass, p.part
    UNION ALL
    SELECT h.run_id, h.rank, h.pass, 'host', p.part, sum(h.total_ms)
    FROM cpu_scope_time h
    JOIN (SELECT 'scores' AS part UNION ALL SELECT 'softmax' UNION ALL SELECT 'values') p ON h.module = p.part OR '/' || h.module LIKE '%/attention/' || p.part
    WHERE h.phase = 'forward'
    GROUP BY h.run_id, h.rank, h.pass, p.part
  ) m
) t
;
CREATE VIEW class_coverage AS
SELECT e.run_id,                                                         -- the run
       e.rank,                                                           -- its rank
       e.pass,                                                           -- pass the kernels ran in
       sum(e.total_ns) / 1e6 / max(e.steps) AS device_ms,                -- device time per step
       sum(CASE e.class WHEN 'other' THEN e.total_ns ELSE 0 END) / 1e6 / max(e.steps) AS other_ms,  -- of class other
       1.0 * sum(CASE e.class WHEN 'other' THEN e.total_ns ELSE 0 END) / nullif(sum(e.total_ns), 0) AS other_share,  -- its share
       count(DISTINCT CASE e.class WHEN 'other' THEN e.name_id END) AS other_names  -- different names in it
FROM kernel_entry e
GROUP BY e.run_id, e.rank, e.pass
;
CREATE VIEW oom AS
SELECT r.run_id,           -- the run
       r.invocation_id,    -- its invocation
       r.workload,         -- its workload
       r.suite_case,       -- name of the case within the suite
       o.rank,             -- rank that asked; −1 if none in particular, NULL if nothing is known
       o.pass,             -- pass it happened in
       o.place,            -- host or device
       o.requested_bytes,  -- size asked for; NULL if unknown
       o.free_bytes,       -- free at that moment; NULL if unknown
       o.peak_bytes,       -- highest size in use before; NULL if unknown
       r.failed_phase,     -- phase or stage that the run failed in, or empty
       r.failed_step,      -- step that the run failed in; NULL outside a step
       r.detail            -- what the failing rank said
FROM run r
LEFT JOIN out_of_memory o ON o.run_id = r.run_id
WHERE r.status = 'oom' OR o.run_id IS NOT NULL
;
CREATE VIEW worker_memory AS
SELECT k.run_id,                                        -- the run
       k.rank,                                          -- its rank
       k.pass,                                          -- its pass
       k.resident_peak_bytes,                           -- highest resident size of the process; NULL if not measured
       k.allocated_peak_bytes,                          -- highest size handed out by the caching allocator; NULL without one
       k.reserved_peak_bytes,                           -- highest size held by the caching allocator; NULL without one
       d.name AS device_name,                           -- model of its device; NULL if it never got that far
       d.memory_bytes AS device_memory_bytes,           -- total memory of that device
       1.0 * k.allocated_peak_bytes / k.reserved_peak_bytes AS allocated_share  -- of what the allocator held, at the two peaks
FROM rank k
LEFT JOIN device d ON d.device_id = k.device_id
;
CREATE VIEW memory_timeline AS
SELECT m.run_id,                                                         -- the run
       m.rank,                                                           -- its rank
       m.pass,                                                           -- pass it was observed in
       m.device,                                                         -- cuda or cpu
       m.sequence,                                                       -- place among the memory events
       m.time_ns / 1e6 AS time_ms,                                       -- host clock, after the start of the run
       m.step,                                                           -- step; −1 outside of steps
       CASE WHEN p.text IS NOT NULL THEN p.text WHEN m.step < 0 THEN 'outside' ELSE 'other' END AS phase,  -- phase; `other` outside of phases, `outside` outside of steps
       m.requested_bytes,                                                -- asked for by blocks in use
       m.allocated_bytes,                                                -- handed out
       m.active_bytes,                                                   -- handed out, or given back but still used by a stream
       m.reserved_bytes,                                                 -- held of the driver
       m.parameter_bytes,                                                -- allocated sizes of the live blocks of that category
       m.gradient_bytes,                                                 -- the same
       m.optimizer_state_bytes,                                          -- the same
       m.activation_bytes,                                               -- the same
       m.workspace_bytes,                                                -- the same
       m.input_bytes,                                                    -- the same
       m.unknown_bytes                                                   -- the same
FROM memory_point m
LEFT JOIN string p ON p.string_id = m.phase_id
;
CREATE VIEW memory_peak AS
SELECT t.run_id,                                                         -- the run
       t.rank,                                                           -- its rank
       t.pass,                                                           -- pass it was observed in
       t.device,                                                         -- cuda or cpu
       t.phase,                                                          -- phase or one of the words above; `other` is what lies outside of phases in a step
       t.peak_requested_bytes,                                           -- highest value of that curve
       t.peak_allocated_bytes,                                           -- the same
       t.peak_active_bytes,                                              -- the same
       t.peak_reserved_bytes,                                            -- the same
       t.step AS peak_step,                                              -- step of the highest allocated point, the first one if there are several
       t.peak_ns,                                                        -- when it was, on the host clock after the start of the run
       t.parameter_bytes,                                                -- alive at that moment, allocated sizes
       t.gradient_bytes,                                                 -- the same
       t.optimizer_state_bytes,                                          -- the same
       t.activation_bytes,                                               -- the same
       t.workspace_bytes,                                                -- the same
       t.input_bytes,                                                    -- the same
       t.unknown_bytes,                                                  -- the same
       CASE max(t.parameter_bytes, t.gradient_bytes, t.optimizer_state_bytes, t.activation_bytes, t.workspace_bytes, t.input_bytes, t.unknown_bytes)
            WHEN 0 THEN NULL
            WHEN t.parameter_bytes THEN 'parameter' WHEN t.gradient_bytes THEN 'gradient' WHEN t.optimizer_state_bytes THEN 'optimizer_state'
            WHEN t.activation_bytes THEN 'activation' WHEN t.workspace_bytes THEN 'workspace' WHEN t.input_bytes THEN 'input' ELSE 'unknown' END AS largest_category  -- category with most of it; NULL if nothing was alive
FROM (
  SELECT *, row_number() OVER (PARTITION BY run_id, rank, pass, device, phase ORDER BY allocated_bytes DESC, step, peak_ns) AS place
  FROM (
    SELECT *, max(requested_bytes) OVER (PARTITION BY run_id, rank, pass, device, phase) AS peak_requested_bytes,
           max(allocated_bytes) OVER (PARTITION BY run_id, rank, pass, device, phase) AS peak_allocated_bytes,
           max(active_bytes) OVER (PARTITION BY run_id, rank, pass, device, phase) AS peak_active_bytes,
           max(reserved_bytes) OVER (PARTITION BY run_id, rank, pass, device, phase) AS peak_reserved_bytes
    FROM (
      SELECT m.run_id, m.rank, m.pass, m.device, m.step, m.peak_ns, m.peak_requested_bytes AS requested_bytes, m.peak_allocated_bytes AS allocated_bytes,
             m.peak_active_bytes AS active_bytes, m.peak_reserved_bytes AS reserved_bytes, m.parameter_bytes, m.gradient_bytes, m.optimizer_state_bytes,
             m.activation_bytes, m.workspace_bytes, m.input_bytes, m.unknown_bytes,
             CASE WHEN b.whole = 1 THEN 'run' WHEN m.step < 0 THEN 'outside' WHEN m.warmup = 1 THEN 'warm-up' ELSE m.phase END AS phase
      FROM memory_phase m
      CROSS JOIN (SELECT 0 AS whole UNION ALL SELECT 1) b
    )
  )
) t
WHERE t.place = 1
;
CREATE VIEW memory_by_category AS
SELECT p.run_id,                                                         -- the run
       p.rank,                                                           -- its rank
       p.pass,                                                           -- pass it was observed in
       p.device,                                                         -- cuda or cpu
       p.phase,                                                          -- as in memory_peak
       c.category,                                                       -- parameter, gradient, optimizer_state, activation, workspace, input or unknown
       CASE c.place WHEN 0 THEN p.parameter_bytes WHEN 1 THEN p.gradient_bytes WHEN 2 THEN p.optimizer_state_bytes WHEN 3 THEN p.activation_bytes
                    WHEN 4 THEN p.workspace_bytes WHEN 5 THEN p.input_bytes ELSE p.unknown_bytes END AS bytes,  -- allocated sizes of its live blocks
       1.0 * CASE c.place WHEN 0 THEN p.parameter_bytes WHEN 1 THEN p.gradient_bytes WHEN 2 THEN p.optimizer_state_bytes WHEN 3 THEN p.activation_bytes
                          WHEN 4 THEN p.workspace_bytes WHEN 5 THEN p.input_bytes ELSE p.unknown_bytes END / nullif(p.peak_allocated_bytes, 0) AS share,  -- of the peak
       c.place                                                           -- 0, 1, 2 ... in the order of the categories above
FROM memory_peak p
CROSS JOIN (SELECT 0 AS place, 'parameter' AS category UNION ALL SELECT 1, 'gradient' UNION ALL SELECT 2, 'optimizer_state' UNION ALL SELECT 3, 'activation'
            UNION ALL SELECT 4, 'workspace' UNION ALL SELECT 5, 'input' UNION ALL SELECT 6, 'unknown') c
;
CREATE VIEW memory_largest AS
SELECT a.run_id,                                                         -- the run
       a.rank,                                                           -- rank that asked for it
       a.pass,                                                           -- pass it was observed in
       a.device,                                                         -- cuda or cpu
       a.sequence,                                                       -- as in allocation
       a.requested_bytes,                                                -- size that was asked for
       a.allocated_bytes,                                                -- size that the allocator took for it
       a.category,                                                       -- parameter, gradient, optimizer_state, activation, workspace, input or unknown
       a.step,                                                           -- step of its birth; −1 outside of steps
       CASE WHEN p.text IS NOT NULL THEN p.text WHEN a.step < 0 THEN 'outside' ELSE 'other' END AS phase,  -- phase of its birth; `other` outside of phases, `outside` outside of steps
       q.module,                                                         -- path of scopes of its birth without the numbers of repeated parts; NULL if none is known
       s.text AS scope,                                                  -- the same with them
       o.text AS operator,                                               -- innermost operator that asked for it; NULL if there was none
       (SELECT coalesce(x.text, printf('%s+0x%x', f.module, f.offset))
        FROM stack k
        JOIN stack_frame f ON f.run_id = k.run_id AND f.rank = k.rank AND f.pass = k.pass AND f.frame = k.frame
        LEFT JOIN string x ON x.string_id = f.function_id
        WHERE k.run_id = a.run_id AND k.rank = a.rank AND k.pass = a.pass AND k.stack = a.stack
          AND NOT (f.module LIKE 'libtorch%' OR f.module LIKE 'libc10%' OR f.module LIKE 'libc.%' OR f.module LIKE 'libstdc++%' OR f.module LIKE 'libcu%'
                   OR f.module LIKE 'libgomp%' OR f.module LIKE 'libnccl%' OR f.module LIKE 'ld-%' OR f.module LIKE 'kymo_%' OR f.module IN ('kymo', ''))
          AND NOT (coalesce(x.text, '') LIKE 'at::%' OR coalesce(x.text, '') LIKE 'c10::%' OR coalesce(x.text, '') LIKE 'torch::%'
                   OR coalesce(x.text, '') LIKE 'std::%' OR coalesce(x.text, '') LIKE '%kymo::libtorch::%')
        ORDER BY k.depth LIMIT 1) AS origin,                             -- innermost frame of the workload's own code (not of LibTorch, CUDA, the C++ library or kymo): function, or library and address; NULL if no stack was taken or has none
       a.alloc_ns / 1e6 AS alloc_ms,                                     -- birth, host clock, after the start of the run
       (a.free_ns - a.alloc_ns) / 1e6 AS lifetime_ms,                    -- from then until it was given back; NULL if it was alive at the end of the pass
       a.free_step,                                                      -- step it was given back in; NULL if it was not
       CASE WHEN a.free_ns IS NULL THEN NULL WHEN y.text IS NOT NULL THEN y.text WHEN a.free_step < 0 THEN 'outside' ELSE 'other' END AS free_phase,  -- phase it was given back in; NULL if it was not
       coalesce(a.alloc_ns <= h.peak_ns AND coalesce(a.free_ns > h.peak_ns, 1), 0) AS at_peak  -- 1 if it was alive at the highest point of the measured steps
FROM allocation a
LEFT JOIN string p ON p.string_id = a.phase_id
LEFT JOIN string y ON y.string_id = a.free_phase_id
LEFT JOIN string s ON s.string_id = a.scope_id
LEFT JOIN string o ON o.string_id = a.op_id
LEFT JOIN scope_path q ON q.scope_id = a.scope_id
LEFT JOIN memory_phase h ON h.run_id = a.run_id AND h.rank = a.rank AND h.pass = a.pass AND h.device = a.device AND h.phase = 'step'
 AND h.step = (SELECT m.step FROM memory_phase m WHERE m.run_id = a.run_id AND m.rank = a.rank AND m.pass = a.pass AND m.device = a.device
               AND m.phase = 'step' AND m.warmup = 0 AND m.step >= 0 ORDER BY m.peak_allocated_bytes DESC, m.step LIMIT 1)
;
CREATE VIEW allocator_against_driver AS
SELECT t.run_id,                                                         -- the run
       t.rank,                                                           -- its rank
       t.pass,                                                           -- pass it was observed in
       t.requested_peak_bytes,                                           -- highest sum of what live blocks asked for
       t.allocated_peak_bytes,                                           -- highest sum handed out
       t.active_peak_bytes,                                              -- highest sum handed out or still used by a stream
       t.reserved_peak_bytes,                                            -- highest sum held of the driver
       t.allocated_peak_bytes - t.requested_peak_bytes AS rounding_bytes,  -- allocated less requested peak: sizes are rounded up
       t.reserved_peak_bytes - t.allocated_peak_bytes AS unused_bytes,   -- reserved less allocated peak: fragmentation, and blocks kept for later
       t.before_cuda_bytes,                                              -- in use on the device before this process used CUDA: by the driver and others; NULL without a reading
       t.context_made_bytes,                                             -- the same once the context was made
       t.prepared_bytes,                                                 -- the same once the workload was prepared
       t.end_bytes,                                                      -- the same at the end of the pass
       t.driver_peak_bytes,                                              -- highest reading, all processes together; NULL without readings
       t.process_peak_bytes,                                             -- highest reading of this process; NULL if the driver does not tell
       t.context_made_bytes - t.before_cuda_bytes AS context_bytes,      -- what the context took
       t.reserved_then_bytes AS reserved_at_driver_peak_bytes,           -- held by the allocator at the highest reading
       t.driver_peak_bytes - t.context_made_bytes - t.reserved_then_bytes AS rest_bytes  -- none of these: kernels' code, libraries (cuBLAS, cuDNN, NCCL) with memory of their own, and what other processes took since
FROM (
  SELECT p.run_id, p.rank, p.pass, p.peak_requested_bytes AS requested_peak_bytes, p.peak_allocated_bytes AS allocated_peak_bytes,
         p.peak_active_bytes AS active_peak_bytes, p.peak_reserved_bytes AS reserved_peak_bytes, d.before_cuda_bytes, d.context_made_bytes, d.prepared_bytes,
         d.end_bytes, d.driver_peak_bytes, d.process_peak_bytes,
         CASE WHEN d.driver_peak_bytes IS NOT NULL THEN
           coalesce((SELECT m.reserved_bytes FROM memory_point m
                     WHERE m.run_id = p.run_id AND m.rank = p.rank AND m.pass = p.pass AND m.device = 'cuda'
                       AND m.time_ns <= (SELECT v.time_ns FROM device_memory v WHERE v.run_id = p.run_id AND v.rank = p.rank AND v.pass = p.pass
                                         ORDER BY v.used_bytes DESC, v.sequence DESC LIMIT 1)
                     ORDER BY m.sequence DESC LIMIT 1), 0) END AS reserved_then_bytes
  FROM memory_peak p
  LEFT JOIN (
    SELECT run_id, rank, pass,
           max(CASE moment WHEN 'before cuda' THEN used_bytes END) AS before_cuda_bytes, max(CASE moment WHEN 'context made' THEN used_bytes END) AS context_made_bytes,
           max(CASE moment WHEN 'prepared' THEN used_bytes END) AS prepared_bytes, max(CASE moment WHEN 'end' THEN used_bytes END) AS end_bytes,
           max(used_bytes) AS driver_peak_bytes, max(process_bytes) AS process_peak_bytes
    FROM device_memory GROUP BY run_id, rank, pass
  ) d ON d.run_id = p.run_id AND d.rank = p.rank AND d.pass = p.pass
  WHERE p.device = 'cuda' AND p.phase = 'run'
) t
;
CREATE VIEW op_summary AS
SELECT g.run_id,                                                         -- the run
       g.rank,                                                           -- rank that called it
       g.pass,                                                           -- pass it was observed in
       g.phase,                                                          -- phase it was called in; `step` is the whole step, `other` outside of phases
       n.text AS name,                                                   -- its name, as aten::mm
       g.backward,                                                       -- 1 for a node of the backward pass
       1.0 * g.calls / g.steps AS calls,                                 -- calls per step
       g.host_ns / 1e6 / g.steps AS host_ms,                             -- time on the host, with the operators that it called
       g.self_host_ns / 1e6 / g.steps AS self_ms,                        -- time on the host without them
       1.0 * g.self_host_ns / nullif(sum(g.self_host_ns) OVER (PARTITION BY g.run_id, g.rank, g.pass, g.phase), 0) AS self_share,  -- of that of all operators in the phase
       1.0 * g.kernels / g.steps AS kernels,                             -- kernels, copies and memsets that it launched itself
       g.device_ns / 1e6 / g.steps AS device_ms                          -- sum of their durations
FROM (
  SELECT t.run_id, t.rank, t.pass, coalesce(p.text, 'other') AS phase, t.name_id, t.backward, max(t.steps) AS steps, sum(t.calls) AS calls,
         sum(t.host_ns) AS host_ns, sum(t.self_host_ns) AS self_host_ns, sum(t.kernels) AS kernels, sum(t.device_ns) AS device_ns
  FROM op_total t LEFT JOIN string p ON p.string_id = t.phase_id
  GROUP BY t.run_id, t.rank, t.pass, t.phase_id, t.name_id, t.backward
  UNION ALL
  SELECT run_id, rank, pass, 'step', name_id, backward, max(steps), sum(calls), sum(host_ns), sum(self_host_ns), sum(kernels), sum(device_ns)
  FROM op_total GROUP BY run_id, rank, pass, name_id, backward
) g
JOIN string n ON n.string_id = g.name_id
;
CREATE VIEW cpu_scope_time AS
WITH chosen AS (
  SELECT k.run_id, k.rank, k.pass,
         (SELECT min(s.step) FROM sample s WHERE s.run_id = k.run_id AND s.rank = k.rank AND s.pass = k.pass AND s.phase = 'step' AND s.warmup = 0) AS first_step
  FROM run r
  JOIN rank k ON k.run_id = r.run_id
  WHERE r.device_kind = 'cpu' AND k.pass IN ('trace', 'ops', 'memory')
    AND EXISTS (SELECT 1 FROM range g WHERE g.run_id = k.run_id AND g.rank = k.rank AND g.pass = k.pass)
    AND NOT EXISTS (SELECT 1 FROM range g WHERE g.run_id = k.run_id AND g.rank = k.rank AND g.pass = 'trace' AND k.pass <> 'trace')
    AND NOT EXISTS (SELECT 1 FROM range g WHERE g.run_id = k.run_id AND g.rank = k.rank AND g.pass = 'ops' AND k.pass = 'memory')
),
observed AS (
  SELECT c.*, (SELECT count(DISTINCT g.step) FROM range g WHERE g.run_id = c.run_id AND g.rank = c.rank AND g.pass = c.pass AND g.step >= c.first_step) AS steps FROM chosen c
),
instance AS (
  SELECT c.run_id, c.rank, c.pass, c.steps, g.sequence, g.parent, g.phase_id, g.scope_id, g.end_ns - g.start_ns AS lasted_ns
  FROM observed c CROSS JOIN range g ON g.run_id = c.run_id AND g.rank = c.rank AND g.pass = c.pass
  WHERE g.kind = 'scope' AND g.step >= c.first_step
),
inner_scopes AS (SELECT run_id, rank, pass, parent, sum(lasted_ns) AS lasted_ns FROM instance WHERE parent IS NOT NULL GROUP BY run_id, rank, pass, parent)
SELECT i.run_id,                                                         -- the run
       i.rank,                                                           -- its rank
       i.pass,                                                           -- pass it was observed in
       coalesce(p.text, 'other') AS phase,                               -- phase; `other` outside of phases
       q.module,                                                         -- path of scopes without the numbers of repeated parts
       max(q.depth) AS depth,                                            -- scopes it names
       1.0 * count(*) / max(i.steps) AS calls,                           -- how often it is entered in a step
       sum(i.lasted_ns) / 1e6 / max(i.steps) AS total_ms,                -- time in it per step, with the scopes inside it
       (sum(i.lasted_ns) - sum(coalesce(n.lasted_ns, 0))) / 1e6 / max(i.steps) AS self_ms  -- without them
FROM instance i
JOIN scope_path q ON q.scope_id = i.scope_id
LEFT JOIN string p ON p.string_id = i.phase_id
LEFT JOIN inner_scopes n ON n.run_id = i.run_id AND n.rank = i.rank AND n.pass = i.pass AND n.parent = i.sequence
GROUP BY i.run_id, i.rank, i.pass, i.phase_id, q.module
;
CREATE VIEW run_standing AS
SELECT r.run_id,                                                        -- the run
       CASE r.status WHEN 'ok' THEN '' WHEN 'oom' THEN 'OOM' ELSE r.status END AS state,  -- empty if its figures can be read as they are; else why there may be none
       CASE WHEN r.status = 'ok' THEN 'ok'
            WHEN r.status = 'oom' THEN 'OOM'
            ELSE r.status END || CASE WHEN r.detail = '' THEN '' ELSE ': ' || r.detail END AS standing,  -- the state with its reason
       CASE r.verification
            WHEN 'passed' THEN 'passed'
            WHEN 'failed' THEN 'failed'
            ELSE 'not verified' END AS verified,                         -- what the comparison with a reference gave
       coalesce((SELECT group_concat(DISTINCT v.detail) FROM verification v WHERE v.run_id = r.run_id AND v.outcome = 'unavailable' AND v.detail <> ''),
                CASE r.verification WHEN 'unavailable' THEN 'no reference' WHEN '' THEN 'not asked for' ELSE '' END) AS not_verified_because  -- empty if it was verified
FROM run r
;
CREATE VIEW run_title AS
WITH fact AS (
  SELECT p.run_id, 1 AS position, p.name, CASE WHEN p.type = 'bool' THEN CASE p.value WHEN 0 THEN 'false' ELSE 'true' END ELSE p.value END AS value FROM param p
  UNION ALL SELECT run_id, 0, 'case', suite_case FROM run
  UNION ALL SELECT run_id, 2, 'ranks', ranks FROM run
  UNION ALL SELECT run_id, 3, 'device', device_kind FROM run
  UNION ALL SELECT run_id, 4, 'warm-up', warmup FROM run
  UNION ALL SELECT run_id, 5, 'sync', sync FROM run
  UNION ALL SELECT run_id, 6, 'label', label FROM run
  UNION ALL SELECT run_id, 7, 'repetition', repetition + 1 FROM run
),
varying AS (
  SELECT r.workload, f.name FROM fact f JOIN run r ON r.run_id = f.run_id GROUP BY r.workload, f.name HAVING min(f.value) <> max(f.value)
)
SELECT r.run_id,                                                        -- the run
       coalesce((SELECT group_concat(part, ', ')
                 FROM (SELECT f.name || '=' || f.value AS part
                       FROM fact f JOIN varying v ON v.workload = r.workload AND v.name = f.name
                       WHERE f.run_id = r.run_id AND f.value <> ''
                       ORDER BY f.position, f.name)), 'only case') AS title  -- such as `n=1024, device=cuda`
FROM run r
;
CREATE VIEW run_memory AS
SELECT r.run_id,                                                        -- the run
       max(k.resident_peak_bytes) AS resident_peak_bytes,               -- of a worker process on the host
       max(k.allocated_peak_bytes) AS allocated_peak_bytes,             -- handed out by the caching allocator
       max(k.reserved_peak_bytes) AS reserved_peak_bytes                -- held by the caching allocator
FROM run r
JOIN rank k ON k.run_id = r.run_id AND k.pass = 'time'
GROUP BY r.run_id
;
CREATE VIEW run_caution AS
SELECT run_id,                                                          -- the run
       status AS kind,                                                  -- a status other than ok, `not verified`, `slowed down`, `all slowed down`, `unsteady` (a standard deviation above a quarter of the mean), `events only` or `lost records`
       detail                                                           -- why, in one line
FROM run WHERE status <> 'ok'
UNION ALL
SELECT r.run_id, 'not verified', s.not_verified_because
FROM run r JOIN run_standing s ON s.run_id = r.run_id
WHERE r.status = 'ok' AND r.verification NOT IN ('passed', 'failed')
UNION ALL
SELECT run_id, 'slowed down', max(excluded) || ' of ' || max(count + excluded) || ' samples of the step were left out'
FROM statistic WHERE phase = 'step' AND excluded > 0 AND all_throttled = 0 GROUP BY run_id
UNION ALL
SELECT run_id, 'all slowed down', 'every sample of the step was taken on a slowed-down GPU, so all of them count'
FROM statistic WHERE phase = 'step' AND all_throttled = 1 GROUP BY run_id
UNION ALL
SELECT run_id, 'unsteady', 'the standard deviation of the step is ' || CAST(round(100 * std_ms / mean_ms) AS INTEGER) || ' % of its mean; the median is ' ||
       printf('%.4g', median_ms) || ' ms'
FROM phase_time WHERE phase = 'step' AND status = 'ok' AND std_ms > 0.25 * mean_ms
UNION ALL
SELECT run_id, 'events only', 'the pass ' || pass || ' could not record kernels' || CASE max(rank) WHEN 0 THEN '' ELSE ' on ' || count(*) || ' ranks' END
FROM rank WHERE observation = 'events only' GROUP BY run_id, pass
UNION ALL
SELECT run_id, 'lost records', source || CASE WHEN pass = '' THEN '' ELSE ' (' || pass || ')' END || ': ' ||
       CASE WHEN count < 0 THEN 'unknown number' ELSE CAST(count AS TEXT) END || CASE WHEN detail = '' THEN '' ELSE ', ' || detail END
FROM loss
;
CREATE VIEW transformer_run AS
SELECT p.run_id,                                                        -- the run
       p.size,                                                          -- name of the size
       CASE p.size WHEN 'tiny' THEN 0 WHEN 'small' THEN 1 WHEN 'medium' THEN 2 WHEN 'large' THEN 3 WHEN 'xl' THEN 4 WHEN '2.7B' THEN 5 ELSE 6 END AS size_order,  -- place among the sizes
       p.context,                                                       -- tokens per sequence
       p.batch,                                                         -- sequences per step
       p.dtype || CASE WHEN p.autocast = 1 THEN ' autocast' ELSE '' END AS precision,  -- element type, and whether autocast chose it
       p.mode                                                           -- forward, forward_backward or train
FROM (SELECT r.run_id,
             max(CASE WHEN q.name = 'size' THEN q.value END) AS size,
             max(CASE WHEN q.name = 'context' THEN q.value END) AS context,
             max(CASE WHEN q.name = 'batch' THEN q.value END) AS batch,
             max(CASE WHEN q.name = 'dtype' THEN q.value END) AS dtype,
             max(CASE WHEN q.name = 'autocast' THEN q.value END) AS autocast,
             max(CASE WHEN q.name = 'mode' THEN q.value END) AS mode
      FROM run r JOIN param q ON q.run_id = r.run_id
      WHERE r.workload = 'transformer_lm'
      GROUP BY r.run_id) p
;
CREATE VIEW current_run AS
SELECT r.*  -- every column of run
FROM run r
JOIN invocation i ON i.invocation_id = r.invocation_id
JOIN (
  SELECT n.plan_key, max(j.started_at || printf(' %019d', j.invocation_id)) AS newest
  FROM run n
  JOIN invocation j ON j.invocation_id = n.invocation_id
  GROUP BY n.plan_key
) k ON k.plan_key = r.plan_key AND k.newest = i.started_at || printf(' %019d', i.invocation_id)
;
CREATE VIEW run_list AS
SELECT r.run_id,                                             -- the run
       r.invocation_id,                                      -- its invocation
       r.started_at,                                         -- when it started, in UTC
       r.suite,                                              -- name of the suite, or empty
       r.suite_case,                                         -- name of the case within the suite, or empty
       r.label,                                              -- its label, or empty
       r.workload,                                           -- its workload
       coalesce((SELECT group_concat(t.word, ' ') FROM (
         SELECT p.name || '=' || CASE WHEN p.type <> 'bool' THEN p.value WHEN p.value THEN 'true' ELSE 'false' END AS word
         FROM param p WHERE p.run_id = r.run_id ORDER BY p.name) t), '') AS parameters,  -- all its parameters in one line, by name
       r.ranks,                                              -- processes
       r.device_kind,                                        -- cpu or cuda
       (SELECT d.name FROM rank k JOIN device d ON d.device_id = k.device_id
        WHERE k.run_id = r.run_id ORDER BY k.pass <> 'time', k.rank LIMIT 1) AS device_name,  -- model of the first rank's device; NULL if none was reached
       r.repetition,                                         -- 0, 1, 2 ... of --repeat
       r.status,                                             -- how it ended
       r.detail,                                             -- why it is not ok
       CASE r.verification WHEN 'unavailable' THEN 'not verified' WHEN '' THEN 'not asked' ELSE r.verification END AS verification,  -- passed, failed, not verified or not asked
       s.clock,                                              -- clock of the times: device or host
       s.count,                                              -- samples of the step
       s.mean_ns / 1e6 AS step_mean_ms,                      -- mean time of the step
       s.std_ns / 1e6 AS step_std_ms,                        -- its standard deviation
       s.median_ns / 1e6 AS step_median_ms,                  -- its median
       s.all_throttled,                                      -- 1 if every sample was throttled
       (SELECT count(*) FROM loss l WHERE l.run_id = r.run_id) AS losses  -- entries in the list of what is missing
FROM run r
LEFT JOIN statistic s
  ON s.run_id = r.run_id AND s.phase = 'step'
 AND s.clock = (SELECT min(c.clock) FROM statistic c WHERE c.run_id = r.run_id AND c.phase = 'step')
;
CREATE VIEW run_parameter AS
SELECT p.run_id,  -- the run
       p.name,    -- name of the parameter
       p.type,    -- int, real, bool or text
       p.value,   -- its value in its own type; bool as 0 or 1
       CASE WHEN p.type <> 'bool' THEN CAST(p.value AS TEXT) WHEN p.value THEN 'true' ELSE 'false' END AS text  -- its value for people
FROM param p
;
CREATE VIEW failures AS
SELECT r.run_id,         -- the run
       r.invocation_id,  -- its invocation
       r.suite_case,     -- name of the case within the suite, or empty
       r.workload,       -- its workload
       r.status,         -- oom, failed, crashed, timeout or interrupted
       r.detail,         -- why, in one line
       r.failed_rank,    -- rank that failed first; NULL if none in particular
       r.failed_pass,    -- pass it was in, or empty
       r.failed_phase,   -- phase or stage it was in, or empty
       r.failed_step,    -- step it was in; NULL outside a step
       r.exit_code,      -- of that rank's worker, if it exited
       r.signal,         -- that ended that rank's worker
       (SELECT substr(k.stderr, -1000) FROM rank k
        WHERE k.run_id = r.run_id AND k.rank = r.failed_rank AND k.pass = r.failed_pass) AS last_words  -- end of its standard error
FROM run r
WHERE r.status NOT IN ('ok', 'running', 'skipped')
;
CREATE VIEW environment_fact AS
SELECT e.invocation_id,  -- the invocation
       i.started_at,     -- when it started, in UTC
       e.name,           -- name of the fact
       e.value           -- the fact
FROM environment e
JOIN invocation i ON i.invocation_id = e.invocation_id
;
CREATE VIEW worker_stage AS
SELECT t.run_id,                                   -- the run
       t.rank,                                     -- its rank
       t.pass,                                     -- its pass
       t.place,                                    -- 0, 1, 2 ... in the order of the stages
       t.stage,                                    -- name of the stage
       t.begin_ns / 1e6 AS begin_ms,               -- when it began, after the start of the process or, for a reused worker, of the assignment
       (t.end_ns - t.begin_ns) / 1e6 AS lasted_ms  -- how long it took
FROM (
  SELECT run_id, rank, pass, row_number() OVER (PARTITION BY run_id, rank, pass ORDER BY end_ns, sequence) - 1 AS place, stage,
         lag(end_ns, 1, 0) OVER (PARTITION BY run_id, rank, pass ORDER BY end_ns, sequence) AS begin_ns, end_ns
  FROM (
    SELECT run_id, rank, pass, min(sequence) AS sequence, substr(name, 9) AS stage, min(time_ns) AS end_ns
    FROM mark
    WHERE name IN ('worker: assigned', 'worker: plugin loaded', 'worker: collectors armed', 'worker: created', 'worker: prepared')
    GROUP BY run_id, rank, pass, name
    UNION ALL
    SELECT s.run_id, s.rank, s.pass, 9223372036854775807, 'first step', s.start_ns
    FROM sample s
    WHERE s.phase = 'step' AND s.step = 0 AND EXISTS (SELECT 1 FROM mark m WHERE m.run_id = s.run_id AND m.rank = s.rank AND m.pass = s.pass AND m.name = 'worker: prepared')
  )
) t
;
CREATE VIEW first_step_content AS
WITH early AS (
  SELECT s.run_id, s.step, s.host_ns, count(*) OVER (PARTITION BY s.run_id) AS steps
  FROM run r JOIN step_duration s ON s.run_id = r.run_id AND s.phase = 'step'
  WHERE r.warmup = 0
),
late AS (
  SELECT run_id, host_ns, row_number() OVER (PARTITION BY run_id ORDER BY host_ns) AS place, count(*) OVER (PARTITION BY run_id) AS steps
  FROM early WHERE 2 * step >= steps
),
later AS (SELECT run_id, avg(host_ns) AS median_ns FROM late WHERE place IN ((steps + 1) / 2, (steps + 2) / 2) GROUP BY run_id),
growth AS (
  SELECT run_id, step, max(requests) AS requests, max(reserved_bytes) AS reserved_bytes
  FROM (SELECT run_id, rank, step, device_allocations - lag(device_allocations) OVER (PARTITION BY run_id, rank ORDER BY step) AS requests,
               reserved_bytes - lag(reserved_bytes) OVER (PARTITION BY run_id, rank ORDER BY step) AS reserved_bytes
        FROM memory_counter WHERE pass = 'time')
  GROUP BY run_id, step
),
clock AS (SELECT run_id, step, min(sm_clock_mhz) AS mhz FROM gpu_sample WHERE pass = 'time' GROUP BY run_id, step),
stage AS (
  SELECT run_id, max(CASE stage WHEN 'plugin loaded' THEN lasted_ms END) AS load_ms, max(CASE stage WHEN 'collectors armed' THEN lasted_ms END) AS arm_ms,
         max(CASE stage WHEN 'created' THEN lasted_ms END) AS create_ms, max(CASE stage WHEN 'prepared' THEN lasted_ms END) AS prepare_ms
  FROM worker_stage WHERE pass = 'time' GROUP BY run_id
)
SELECT t.run_id,                                   -- the run
       t.step,                                     -- 0 to 4
       t.host_ms,                                  -- time of the step
       t.later_ms,                                 -- median of the later half of the run's steps; NULL for a run of one step
       t.host_ms - t.later_ms AS excess_ms,        -- time above it
       t.device_allocations,                       -- requests for memory that the allocator sent to the driver in or right before the step, counted and not timed; NULL without a reading
       t.reserved_growth_bytes,                    -- what the allocator holds more than before the step; NULL without a reading
       t.sm_clock_mhz,                             -- lowest SM clock of any rank right after the step; NULL without a reading
       t.median_sm_clock_mhz,                      -- the run's median SM clock; NULL without readings
       t.clock_ms,                                 -- what the lower clock can have added at most: were all of a later step in proportion to the clock; NULL without a reading
       t.host_ms - t.later_ms - coalesce(t.clock_ms, 0) AS unexplained_ms,  -- excess that no record explains: memory requests to the driver, and first use of kernels and libraries (loading, handles, selection)
       t.load_ms,                                  -- stage before step 0: loading the plugin with its libraries; NULL for other steps
       t.arm_ms,                                   -- stage before step 0: arming the collectors, on a GPU with the creation of the CUDA context; NULL for other steps
       t.create_ms,                                -- stage before step 0: creating the workload; NULL for other steps
       t.prepare_ms                                -- stage before step 0: preparing the workload; NULL for other steps
FROM (
  SELECT e.run_id, e.step, e.host_ns / 1e6 AS host_ms, l.median_ns / 1e6 AS later_ms, g.requests AS device_allocations,
         g.reserved_bytes AS reserved_growth_bytes, c.mhz AS sm_clock_mhz, d.sm_clock_mhz AS median_sm_clock_mhz,
         l.median_ns / 1e6 * (max(1.0 * d.sm_clock_mhz / nullif(c.mhz, 0), 1) - 1) AS clock_ms,
         CASE e.step WHEN 0 THEN a.load_ms END AS load_ms, CASE e.step WHEN 0 THEN a.arm_ms END AS arm_ms,
         CASE e.step WHEN 0 THEN a.create_ms END AS create_ms, CASE e.step WHEN 0 THEN a.prepare_ms END AS prepare_ms
  FROM early e
  LEFT JOIN later l ON l.run_id = e.run_id
  LEFT JOIN growth g ON g.run_id = e.run_id AND g.step = e.step
  LEFT JOIN clock c ON c.run_id = e.run_id AND c.step = e.step
  LEFT JOIN device_clock d ON d.run_id = e.run_id
  LEFT JOIN stage a ON a.run_id = e.run_id
  WHERE e.step < 5
) t
;
CREATE VIEW timeline_bar AS
SELECT g.run_id,                                                         -- the run
       g.rank,                                                           -- rank it happened on
       g.pass,                                                           -- pass it happened in
       g.step,                                                           -- step; −1 outside of steps
       'host' AS side,                                                   -- host or GPU
       0 AS place,                                                       -- order of the lanes
       'thread ' || g.thread AS lane,                                    -- thread, stream, `phases`, `copies` or `collectives`
       g.start_ns,                                                       -- begin, host clock, after the start of the run
       g.end_ns,                                                         -- end; NULL if it never came
       coalesce(n.text, '') AS label,                                    -- its name
       coalesce(g.kind, '') AS class,                                    -- phase, scope, operator, copy, memset, communication, or the class of the kernel
       coalesce(q.text, '') AS detail                                    -- more about it, or empty
FROM range g
JOIN string n ON n.string_id = g.name_id
LEFT JOIN string q ON q.string_id = g.scope_id
UNION ALL
SELECT o.run_id, o.rank, o.pass, o.step, 'host', 0, 'thread ' || o.thread, o.start_ns, o.end_ns, coalesce(n.text, ''), 'operator', coalesce(h.text || ' ', '') || coalesce('in ' || q.text, '')
FROM op o
JOIN string n ON n.string_id = o.name_id
LEFT JOIN string h ON h.string_id = o.shapes_id
LEFT JOIN string q ON q.string_id = o.scope_id
UNION ALL
SELECT c.run_id, c.rank, c.pass, c.step, 'host', 1, 'collectives', c.start_ns, c.end_ns, coalesce(c.operation, ''), 'communication', c.bytes || ' bytes, call ' || c.number || ' of ' || n.text
FROM collective c
JOIN string n ON n.string_id = c.communicator_id
WHERE c.on_device = 0
UNION ALL
SELECT a.run_id, a.rank, a.pass, a.step, 'GPU', 2, 'phases', a.start_ns, a.end_ns, coalesce(a.phase, ''), 'phase',
       printf('idle %.1f %%, %d gaps', 100.0 * a.idle_ns / nullif(a.end_ns - a.start_ns, 0), a.gaps)
FROM step_activity a
WHERE a.phase NOT IN ('step', 'other')
UNION ALL
SELECT k.run_id, k.rank, k.pass, k.step, 'GPU', 3, 'stream ' || k.stream, k.start_ns, k.end_ns, coalesce(c.short_name, n.text), coalesce(c.class, 'other'),
       n.text || coalesce(', in ' || q.text, '') || coalesce(' (' || p.text || ')', '')
       || CASE WHEN l.shape IS NULL THEN '' ELSE printf(', grid %d×%d×%d, block %d×%d×%d, %d registers', l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z, l.registers) END
FROM kernel k
JOIN string n ON n.string_id = k.name_id
LEFT JOIN kernel_class c ON c.name_id = k.name_id
LEFT JOIN string q ON q.string_id = k.scope_id
LEFT JOIN string p ON p.string_id = k.phase_id
LEFT JOIN launch_shape l ON l.run_id = k.run_id AND l.rank = k.rank AND l.pass = k.pass AND l.shape = k.shape
UNION ALL
SELECT m.run_id, m.rank, m.pass, m.step, 'GPU', 4, 'copies', m.start_ns, m.end_ns, coalesce(n.text, ''), 'copy', m.bytes || ' bytes on stream ' || m.stream
FROM memcpy m
JOIN string n ON n.string_id = m.name_id
UNION ALL
SELECT m.run_id, m.rank, m.pass, m.step, 'GPU', 4, 'copies', m.start_ns, m.end_ns, coalesce(n.text, ''), 'memset', m.bytes || ' bytes on stream ' || m.stream
FROM memset m
JOIN string n ON n.string_id = m.name_id
;
CREATE VIEW timeline_step AS
SELECT t.run_id,                                                         -- the run
       t.rank,                                                           -- its rank
       t.pass,                                                           -- trace or ops
       t.step,                                                           -- last step that has phases or scopes
       coalesce((SELECT s.start_ns FROM sample s WHERE s.run_id = t.run_id AND s.rank = t.rank AND s.pass = t.pass AND s.step = t.step AND s.phase = 'step'), 0) AS origin_ns,  -- its begin, host clock, after the start of the run; 0 if unknown
       t.preferred                                                       -- 1 for the pass that shows more of the device at hand: ops on a CPU, else trace
FROM (
  SELECT w.run_id, w.rank, w.pass, CASE r.device_kind WHEN 'cpu' THEN w.pass = 'ops' ELSE w.pass = 'trace' END AS preferred,
         (SELECT max(g.step) FROM range g WHERE g.run_id = w.run_id AND g.rank = w.rank AND g.pass = w.pass) AS step
  FROM run r
  JOIN rank w ON w.run_id = r.run_id AND w.pass IN ('trace', 'ops')
) t
WHERE t.step >= 0
;
CREATE VIEW phase_time AS
SELECT r.run_id,                                  -- the run
       r.invocation_id,                           -- its invocation
       r.workload,                                -- its workload
       r.case_key,                                -- what is compared
       r.plan_key,                                -- what makes runs repetitions
       r.label,                                   -- its label
       r.suite,                                   -- its suite
       r.suite_case,                              -- name of the case within the suite
       r.repetition,                              -- 0, 1, 2 ... of --repeat
       r.ranks,                                   -- processes; of each step the slowest counts
       r.status,                                  -- its status
       r.verification,                            -- its verification
       s.phase,                                   -- phase, or `step` for the whole step
       s.clock,                                   -- host or device
       s.count,                                   -- samples
       s.mean_ns / 1e6 AS mean_ms,                -- mean
       s.std_ns / 1e6 AS std_ms,                  -- standard deviation
       s.median_ns / 1e6 AS median_ms,            -- median
       s.min_ns / 1e6 AS min_ms,                  -- smallest
       s.max_ns / 1e6 AS max_ms,                  -- largest
       s.ci_low_ns / 1e6 AS ci_low_ms,            -- lower end of the 95 % confidence interval of the mean
       s.ci_high_ns / 1e6 AS ci_high_ms,          -- upper end
       s.p95_ns / 1e6 AS p95_ms,                  -- 95th percentile; NULL below 100 samples
       s.excluded,                                -- samples left out as throttled
       s.all_throttled                            -- 1 if every sample was throttled
FROM run r
JOIN statistic s ON s.run_id = r.run_id
WHERE s.clock = 'device'
   OR NOT EXISTS (SELECT 1 FROM statistic d WHERE d.run_id = s.run_id AND d.phase = s.phase AND d.clock = 'device')
;
CREATE VIEW throughput AS
SELECT t.run_id,                                  -- the run
       t.workload,                                -- its workload
       t.suite_case,                              -- name of the case within the suite
       t.phase,                                   -- phase, or `step` for the whole step
       t.clock,                                   -- host or device
       t.mean_ms,                                 -- mean time, of the slowest rank
       t.flops,                                   -- floating-point operations of all ranks; NULL if not declared
       t.bytes,                                   -- bytes moved by all ranks; NULL if not declared
       t.flops / (t.mean_ms / 1e3) AS flops_per_s,  -- floating-point operations per second
       t.bytes / (t.mean_ms / 1e3) AS bytes_per_s,  -- bytes per second
       t.flops / t.bytes AS flops_per_byte        -- arithmetic intensity
FROM (
  SELECT p.run_id, p.workload, p.suite_case, p.phase, p.clock, nullif(p.mean_ms, 0) AS mean_ms,
         (SELECT nullif(sum(w.flops), 0) FROM work w WHERE w.run_id = p.run_id AND (w.phase = p.phase OR p.phase = 'step')) AS flops,
         (SELECT nullif(sum(w.bytes), 0) FROM work w WHERE w.run_id = p.run_id AND (w.phase = p.phase OR p.phase = 'step')) AS bytes
  FROM phase_time p
  WHERE EXISTS (SELECT 1 FROM work w WHERE w.run_id = p.run_id AND (w.phase = p.phase OR p.phase = 'step'))
) t
;
CREATE VIEW step_time AS
SELECT s.run_id,                                         -- the run
       s.step,                                           -- counts from 0, warm-up steps included
       s.phase,                                          -- phase, or `step` for the whole step
       s.warmup,                                         -- 1 for a warm-up step
       s.throttled,                                      -- 1 if the GPU of some rank was slowed down
       coalesce(s.device_ns, s.host_ns) / 1e6 AS time_ms,  -- on the device's clock where every rank has it, else on the host's
       s.host_ns / 1e6 AS host_ms,                       -- on the host's clock
       s.device_ns / 1e6 AS device_ms                    -- on the device's clock; NULL on a CPU
FROM step_duration s
;
CREATE VIEW warmup_steps AS
SELECT s.run_id,                           -- the run
       s.step,                             -- counts from 0, warm-up steps included
       s.warmup,                           -- 1 for a warm-up step
       s.throttled,                        -- 1 if the GPU of some rank was slowed down
       s.host_ns / 1e6 AS time_ms,         -- time of the slowest rank
       s.host_ns / m.median_ns AS ratio    -- over the median of the steps that count; NULL if none does
FROM step_duration s
LEFT JOIN statistic m ON m.run_id = s.run_id AND m.phase = 'step' AND m.clock = 'host'
WHERE s.phase = 'step'
;
CREATE VIEW reported_metric AS
SELECT m.run_id,    -- the run
       m.rank,      -- rank that reported it
       m.pass,      -- pass it was reported in
       m.sequence,  -- order of reporting within the pass
       m.level,     -- run, step or phase
       m.step,      -- step it belongs to; NULL for a figure of the run
       m.phase,     -- phase it belongs to, or empty
       m.name,      -- name of the figure
       m.value,     -- number or text
       m.unit       -- unit of a number
FROM (SELECT run_id, rank, pass, sequence, level, nullif(step, -1) AS step, phase, name, value, unit FROM metric) m
;
CREATE VIEW verification_result AS
SELECT v.run_id,         -- the run
       r.workload,       -- its workload
       r.suite_case,     -- name of the case within the suite
       v.rank,           -- rank that compared
       v.name,           -- what was compared
       v.outcome,        -- passed, failed or unavailable
       v.max_abs_error,  -- largest absolute difference; NULL if unknown
       v.max_rel_error,  -- largest relative difference; NULL if unknown
       v.tolerance,      -- what is admitted; NULL if the workload did not say
       v.reference,      -- what it was compared with
       v.detail          -- why it failed or was not possible
FROM verification v
JOIN run r ON r.run_id = v.run_id
;
CREATE VIEW device_clock AS
SELECT r.run_id,                                   -- the run
       r.workload,                                 -- its workload
       r.suite_case,                               -- name of the case within the suite
       c.readings,                                 -- readings
       (SELECT m.reading FROM (
          SELECT g.sm_clock_mhz AS reading, row_number() OVER (ORDER BY g.sm_clock_mhz) AS place FROM gpu_sample g
          WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.sm_clock_mhz IS NOT NULL) m
        WHERE m.place = (c.sm_clocks + 1) / 2) AS sm_clock_mhz,  -- median clock of the multiprocessors
       c.min_sm_clock_mhz,                         -- lowest clock of the multiprocessors
       c.max_sm_clock_mhz,                         -- highest clock of the multiprocessors
       (SELECT m.reading FROM (
          SELECT g.memory_clock_mhz AS reading, row_number() OVER (ORDER BY g.memory_clock_mhz) AS place FROM gpu_sample g
          WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.memory_clock_mhz IS NOT NULL) m
        WHERE m.place = (c.memory_clocks + 1) / 2) AS memory_clock_mhz,  -- median clock of the memory
       (SELECT m.reading FROM (
          SELECT g.power_mw / 1e3 AS reading, row_number() OVER (ORDER BY g.power_mw) AS place FROM gpu_sample g
          WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.power_mw IS NOT NULL) m
        WHERE m.place = (c.powers + 1) / 2) AS power_w,  -- median power draw of one GPU
       (SELECT m.reading FROM (
          SELECT g.temperature_c AS reading, row_number() OVER (ORDER BY g.temperature_c) AS place FROM gpu_sample g
          WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.temperature_c IS NOT NULL) m
        WHERE m.place = (c.temperatures + 1) / 2) AS temperature_c,  -- median temperature of the chip
       c.max_temperature_c,                        -- highest temperature of the chip
       c.power_capped,                             -- readings under the software power cap, which is flagged and kept
       c.thermal_slowdown,                         -- readings slowed down by heat
       c.hardware_slowdown                         -- readings slowed down by the board (its power brake included)
FROM run r
JOIN (
  SELECT s.run_id, count(*) AS readings, count(s.sm_clock_mhz) AS sm_clocks, count(s.memory_clock_mhz) AS memory_clocks,
         count(s.power_mw) AS powers, count(s.temperature_c) AS temperatures, min(s.sm_clock_mhz) AS min_sm_clock_mhz, max(s.sm_clock_mhz) AS max_sm_clock_mhz,
         max(s.temperature_c) AS max_temperature_c,
         sum((s.throttle_reasons & 4) <> 0) AS power_capped, sum((s.throttle_reasons & 96) <> 0) AS thermal_slowdown,
         sum((s.throttle_reasons & 136) <> 0) AS hardware_slowdown
  FROM gpu_sample s
  JOIN run w ON w.run_id = s.run_id
  WHERE s.pass = 'time' AND s.step >= w.warmup
  GROUP BY s.run_id
) c ON c.run_id = r.run_id
;
CREATE VIEW run_loss AS
SELECT l.run_id,      -- the run
       r.workload,    -- its workload
       r.suite_case,  -- name of the case within the suite
       l.rank,        -- rank it is missing of; NULL for the whole run
       l.pass,        -- pass it is missing of, or empty
       l.source,      -- collector or part of the tool that lost it
       l.count,       -- how many; NULL if unknown
       l.detail       -- what and why
FROM (SELECT run_id, nullif(rank, -1) AS rank, pass, source, nullif(count, -1) AS count, detail FROM loss) l
JOIN run r ON r.run_id = l.run_id
;
CREATE VIEW trace_overhead AS
SELECT o.run_id,                                   -- the run
       r.workload,                                 -- its workload
       r.suite_case,                               -- name of the case within the suite
       o.rank,                                     -- rank it was measured on
       o.pass,                                     -- the observed pass
       o.phase,                                    -- phase, or `step` for the whole step
       o.steps,                                    -- observed steps, without warm-up
       o.observed_ns / 1e6 AS observed_ms,         -- median time under observation, on the host's clock
       o.time_ns / 1e6 AS time_ms,                 -- median time in the time pass
       o.ratio,                                    -- observed over unobserved
       CASE WHEN o.ratio < 0.98 THEN 'no cost that shows: the observed steps were faster'
            WHEN o.ratio <= 1.02 THEN 'no cost that shows'
            ELSE printf('%.*f %% longer', CASE WHEN o.ratio < 1.1 THEN 1 ELSE 0 END, 100 * (o.ratio - 1)) END AS verdict  -- the same in words; differences up to 2 % are taken for scatter
FROM overhead o
JOIN run r ON r.run_id = o.run_id
;
CREATE VIEW attribution_coverage AS
SELECT g.run_id,                                   -- the run
       g.rank,                                     -- its rank
       g.pass,                                     -- pass they ran in
       g.phase,                                    -- phase; `step` is the whole step, `other` what has no phase
       g.total_ns / 1e6 / g.steps AS device_ms,    -- device time per step
       1.0 * g.phase_ns / nullif(g.total_ns, 0) AS phase_share,          -- has a phase
       1.0 * g.scope_ns / nullif(g.total_ns, 0) AS scope_share,          -- has a scope
       1.0 * g.launch_ns / nullif(g.total_ns, 0) AS launch_share,        -- has the scope of the thread that launched it
       1.0 * g.autograd_ns / nullif(g.total_ns, 0) AS autograd_share,    -- has the forward scope of the backward node that launched it
       1.0 * g.graph_ns / nullif(g.total_ns, 0) AS graph_share,          -- was placed by its node in a CUDA graph
       1.0 * g.phase_only_ns / nullif(g.total_ns, 0) AS phase_only_share,  -- has a phase and no scope
       1.0 * g.none_ns / nullif(g.total_ns, 0) AS none_share             -- could not be placed
FROM (
  SELECT e.run_id, e.rank, e.pass, CASE WHEN b.whole THEN 'step' ELSE e.phase END AS phase, max(e.steps) AS steps, sum(e.total_ns) AS total_ns,
         sum(CASE WHEN e.phase_id IS NOT NULL THEN e.total_ns ELSE 0 END) AS phase_ns, sum(CASE WHEN e.scope_id IS NOT NULL THEN e.total_ns ELSE 0 END) AS scope_ns,
         sum(CASE e.attribution WHEN 'launch' THEN e.total_ns ELSE 0 END) AS launch_ns, sum(CASE e.attribution WHEN 'autograd' THEN e.total_ns ELSE 0 END) AS autograd_ns,
         sum(CASE e.attribution WHEN 'graph' THEN e.total_ns ELSE 0 END) AS graph_ns, sum(CASE e.attribution WHEN 'phase' THEN e.total_ns ELSE 0 END) AS phase_only_ns,
         sum(CASE e.attribution WHEN 'none' THEN e.total_ns ELSE 0 END) AS none_ns
  FROM kernel_entry e
  CROSS JOIN (SELECT 0 AS whole UNION ALL SELECT 1) b
  GROUP BY e.run_id, e.rank, e.pass, b.whole, CASE WHEN b.whole THEN NULL ELSE e.phase_id END
) g
;
COMMIT;
