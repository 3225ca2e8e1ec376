-- SPDX-License-Identifier: Apache-2.0
-- A results database of schema version 1. Do not change it: every later version of kymo must be able to open it.
PRAGMA page_size = 8192;
PRAGMA application_id = 1803117666;
PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta (
  -- schema_version, compatible_version (oldest schema version whose tools can still use the file), kymo_version, views
  -- (names, comma-separated) or views_digest
  key TEXT NOT NULL PRIMARY KEY,
  -- value
  value TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO meta VALUES('compatible_version','1');
INSERT INTO meta VALUES('kymo_version','0.1.0');
INSERT INTO meta VALUES('schema_version','1');
INSERT INTO meta VALUES('views','launch_gap,step_span,outlier_call,device_peak,attention_run,attention_time,attention_grid,oom_block,attention_latency,rank_clock,collective_call,collective_summary,collective_straggler,collective_overlap,communication_overlap,trace_overlap,rank_time,rank_spread,run_machine,all_reduce_bandwidth,all_reduce_fit,bucket_prediction,ddp_run,ddp_summary,sharding_memory,sharding_time,kernel_pass,kernel_entry,kernel_summary,kernel_by_phase,kernel_by_scope,matmul_share,attention_breakdown,class_coverage,oom,worker_memory,memory_timeline,memory_peak,memory_by_category,memory_block,allocator_vs_driver,op_summary,cpu_scope_time,verification_result,device_clock,run_dropped_record,trace_overhead,attribution_coverage,run_status,run_title,run_memory,run_warning,transformer_run,run_order,current_run,run_list,run_parameter,failures,environment_fact,worker_stage,first_step_content,timeline_bar,timeline_step,phase_time,throughput,step_time,warmup_steps,reported_metric');
INSERT INTO meta VALUES('views_digest','4987dd650d295c4667b7fd01b634a85392a8f30e79ce7e6e9a5a5a1275fc9885');
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
INSERT INTO invocation VALUES(1,'6748b9aa-9fd2-4bc9-8492-77fcc729138d','kymo run saxpy','2026-11-21T21:32:00.790Z','2026-11-21T21:32:00.831Z',3);
CREATE TABLE environment (
  -- invocation that recorded the property
  invocation_id INTEGER NOT NULL REFERENCES invocation,
  -- host, cpu, kernel, driver, torch, cuda, relevant environment variables ...
  name TEXT NOT NULL,
  -- value
  value TEXT NOT NULL,
  PRIMARY KEY (invocation_id, name)
) WITHOUT ROWID;
INSERT INTO environment VALUES(1,'cpu','A processor');
INSERT INTO environment VALUES(1,'host','node1');
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
INSERT INTO plugin VALUES(1,'saxpy','1.0','/plugins/saxpy.so','5a5a','libtorch','2.11.0','13.0','gcc 12');
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
INSERT INTO device VALUES(1,'cpu-1234','cpu','A processor',1073741824,8,NULL,NULL);
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
INSERT INTO run VALUES(1,1,0,1,'saxpy','saxpy','',0,'f0bb6c87e25c1c72','b3b2f0a1f2d04c11','c69f3a3817b9d681','','','',0,1,'cpu','sync','step',2,10,NULL,'time,trace',0,'ok','','',NULL,NULL,NULL,'','',NULL,'2026-11-21T21:32:00.791Z','2026-11-21T21:32:00.806Z','all');
INSERT INTO run VALUES(2,1,1,1,'saxpy','saxpy','',0,'bd5a2baa28f979a5','0c7be2a95f6d4e83','ddd1773513a1400a','','','',0,1,'cpu','sync','step',2,10,NULL,'verify,time',0,'oom','out of memory','',NULL,NULL,0,'time','compute',0,'2026-11-21T21:32:00.828Z','2026-11-21T21:32:00.830Z','all');
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
INSERT INTO param VALUES(1,'causal',2,'bool','',0,NULL,1);
INSERT INTO param VALUES(1,'dtype',1,'text','',0,NULL,'fp32');
INSERT INTO param VALUES(1,'n',0,'int','',0,NULL,0);
INSERT INTO param VALUES(1,'scale',3,'real','',0,NULL,0.5);
INSERT INTO param VALUES(2,'causal',2,'bool','',0,NULL,1);
INSERT INTO param VALUES(2,'dtype',1,'text','',0,NULL,'fp32');
INSERT INTO param VALUES(2,'n',0,'int','',0,NULL,1);
INSERT INTO param VALUES(2,'scale',3,'real','',0,NULL,0.5);
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
INSERT INTO rank VALUES(1,0,'time',4711,'node1','ok',1,1048576,262144,524288,'hello','','');
INSERT INTO rank VALUES(1,0,'trace',4712,'node1','ok',1,1048576,262144,524288,'hello','','events only');
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
INSERT INTO statistic VALUES(1,'compute','device',10,0,0,531.5,1.51382517704874572928e+01,531.5,509.0,554.0,5.2067074705165919111e+02,5.42329252948340808856e+02,NULL);
INSERT INTO statistic VALUES(1,'compute','host',10,0,0,532.5,1.51382517704874572928e+01,532.5,510.0,555.0,5.2167074705165919113e+02,5.43329252948340808877e+02,NULL);
INSERT INTO statistic VALUES(1,'step','host',10,0,0,1065.0,3.02765035409749145851e+01,1065.0,1020.0,1110.0,1.04334149410331838221e+03,1.08665850589668161777e+03,NULL);
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
INSERT INTO metric VALUES(1,0,'time',0,'run',-1,'','loss',2.5,'');
INSERT INTO metric VALUES(1,0,'trace',0,'run',-1,'','loss',2.5,'');
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
INSERT INTO work VALUES(1,0,'compute',2000000000.0,1000000.0);
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
INSERT INTO memory_counter VALUES(1,0,'time',-1,20,100,200,1);
INSERT INTO memory_counter VALUES(1,0,'time',0,30,150,400,3);
INSERT INTO memory_counter VALUES(1,0,'trace',-1,20,100,200,1);
INSERT INTO memory_counter VALUES(1,0,'trace',0,30,150,400,3);
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
INSERT INTO mark VALUES(1,0,'time',0,'ready',17,-1);
INSERT INTO mark VALUES(1,0,'trace',0,'ready',17,-1);
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
INSERT INTO out_of_memory VALUES(2,0,'time','device',5,3,7);
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
CREATE TABLE run_library (
  -- run that used the plugin
  run_id INTEGER NOT NULL REFERENCES run,
  -- file name in the plugin's directory
  name TEXT NOT NULL,
  -- SHA-256 of the file
  sha256 TEXT NOT NULL,
  PRIMARY KEY (run_id, name)
) WITHOUT ROWID;
INSERT INTO run_library VALUES(1,'librest.so','7b7b');
INSERT INTO run_library VALUES(2,'librest.so','7b7b');
CREATE TABLE string (
  -- id within this database
  string_id INTEGER PRIMARY KEY,
  -- the string; names of kernels and functions are demangled
  text TEXT NOT NULL UNIQUE
);
INSERT INTO string VALUES(1,'forward');
INSERT INTO string VALUES(2,'attention');
INSERT INTO string VALUES(3,'block_0/attention');
INSERT INTO string VALUES(4,'load');
INSERT INTO string VALUES(5,'kernel<''x"; DROP TABLE run; --
<script>\input{x}=cmd>');
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
  -- name of the kernel, copy or memset
  name_id INTEGER PRIMARY KEY REFERENCES string,
  -- name without template arguments, parameters and namespaces
  short_name TEXT NOT NULL,
  -- matmul, softmax, elementwise, reduction, attention, normalisation, optimizer, communication, copy, memset or other
  class TEXT NOT NULL
);
INSERT INTO kernel_class VALUES(5,'kernel','matmul');
CREATE TABLE scope_path (
  -- the path
  scope_id INTEGER PRIMARY KEY REFERENCES string,
  -- the path without the indices of repeated modules: block/attention/softmax
  module TEXT NOT NULL,
  -- number of scopes in the path
  depth INTEGER NOT NULL
);
INSERT INTO scope_path VALUES(3,'block/attention',2);
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
INSERT INTO "range" VALUES(1,0,'trace',0,NULL,'phase',1,NULL,2,1,0,10010,10500);
INSERT INTO "range" VALUES(1,0,'trace',1,0,'scope',2,3,2,1,1,10010,NULL);
INSERT INTO "range" VALUES(1,0,'trace',2,NULL,'scope',4,4,-1,NULL,0,5,6);
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
INSERT INTO launch_config VALUES(1,0,'trace',0,4,2,1,256,1,1,1024,2048,168);
INSERT INTO launch_config VALUES(1,0,'trace',1,1,1,1,32,1,1,0,0,16);
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
INSERT INTO kernel VALUES(1,0,'trace',0,5,10100,10150,7,4000000000,2,1,3,'launch',0,NULL,0);
INSERT INTO kernel VALUES(1,0,'trace',3,13,15100,15150,7,4000000000,3,NULL,NULL,'graph',1,1099511627779,NULL);
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
INSERT INTO memcpy VALUES(1,0,'trace',1,6,1048576,10200,10250,7,4000000000,2,12,NULL,'phase',NULL,NULL);
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
INSERT INTO memset VALUES(1,0,'trace',2,7,64,10300,10350,7,4000000000,-1,NULL,NULL,'none',NULL,NULL);
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
INSERT INTO api_call VALUES(1,0,'trace',0,8,10020,10030,77,4000000000);
INSERT INTO api_call VALUES(1,0,'trace',1,13,20,30,77,1);
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
INSERT INTO synchronization VALUES(1,0,'trace',0,'stream',10400,10450,7,12);
INSERT INTO synchronization VALUES(1,0,'trace',1,'context',40,45,NULL,13);
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
INSERT INTO cupti_overhead VALUES(1,0,'trace',0,'buffer flush',10460,10470);
INSERT INTO cupti_overhead VALUES(1,0,'trace',1,'lazy loading',50,51);
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
  -- input shapes such as [4, 256] [256]; NULL if not requested
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
INSERT INTO op VALUES(1,0,'trace',0,NULL,9,10,0,10015,10090,60,1,9,2,1,3,'launch');
INSERT INTO op VALUES(1,0,'trace',1,0,11,NULL,1,10020,NULL,0,0,NULL,-1,NULL,NULL,'none');
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
INSERT INTO kernel_total VALUES(1,0,'trace',0,'kernel',1,3,5,'launch',2,1,0,50,50,50);
INSERT INTO kernel_total VALUES(1,0,'trace',1,'memcpy',12,NULL,6,'phase',2,1,1048576,50,50,50);
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
INSERT INTO op_total VALUES(1,0,'trace',0,1,3,9,0,2,1,75,60,1,50);
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
INSERT INTO step_activity VALUES(1,0,'trace',2,'forward',0,10100,10250,2,50,50,0,0,0,50,50,50,1,50);
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
INSERT INTO kernel_outlier VALUES(1,0,'trace',0,5,2,1,3,50,8,10,40.5,1,0,90,1980);
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
INSERT INTO allocation VALUES(1,0,'trace',0,'cuda',-512,500,512,10,NULL,NULL,NULL,NULL,0,0,-1,NULL,NULL,NULL,NULL,NULL,'parameter','tag',0);
INSERT INTO allocation VALUES(1,0,'trace',1,'cuda',-512,500,512,10,20,25,2,3,0,0,0,1,3,0,12,9,'unknown','',1);
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
INSERT INTO segment VALUES(1,0,'trace',4,4096,2097152,0,9,NULL,NULL);
INSERT INTO segment VALUES(1,0,'trace',5,8192,2097152,0,9,12,6);
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
INSERT INTO memory_point VALUES(1,0,'trace',0,'cuda',10,-1,NULL,500,512,512,2097152,512,0,0,0,0,0,0);
INSERT INTO memory_point VALUES(1,0,'trace',7,'cpu',10200,2,12,1,2,3,4,1,2,3,4,5,6,7);
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
INSERT INTO memory_phase VALUES(1,0,'trace','cuda',2,'forward',0,512,600,1,2,3,4,10300,1,2,3,4,5,6,7);
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
INSERT INTO device_memory VALUES(1,0,'trace',0,1,'before cuda',-1,100,NULL);
INSERT INTO device_memory VALUES(1,0,'trace',1,10200,'',2,300,200);
INSERT INTO device_memory VALUES(1,0,'trace',2,15200,'',3,400,200);
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
INSERT INTO stack VALUES(1,0,'trace',0,0,0);
INSERT INTO stack VALUES(1,0,'trace',0,1,1);
INSERT INTO stack VALUES(1,0,'trace',1,0,2);
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
INSERT INTO stack_frame VALUES(1,0,'trace',0,'libx.so',64,14);
INSERT INTO stack_frame VALUES(1,0,'trace',1,'liby.so',128,NULL);
INSERT INTO stack_frame VALUES(1,0,'trace',2,'libz.so',1,15);
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
INSERT INTO clock_sync VALUES(1,0,'trace',0,'device',1,1000,50);
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
INSERT INTO overhead VALUES(1,0,'trace','compute',2,512.5,532.5,9.62441314553990623359e-01);
INSERT INTO overhead VALUES(1,0,'trace','step',2,1025.0,1065.0,9.62441314553990623359e-01);
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
INSERT INTO collective VALUES(1,0,'trace',0,5,17,'all_reduce',1099511627776,1,10040,10060,10100,10150,1,2,12,3,'autograd');
INSERT INTO collective VALUES(1,0,'trace',1,13,0,'barrier',0,0,40,NULL,40,NULL,0,-1,NULL,NULL,'none');
CREATE INDEX run_by_plan ON run (plan_key);
CREATE UNIQUE INDEX run_by_invocation ON run (invocation_id, sequence);
CREATE VIEW launch_gap AS
SELECT
  -- run
  a.run_id,
  -- rank
  a.rank,
  -- pass in which it was recorded
  a.pass,
  -- phase; `step` is the whole step
  a.phase,
  -- number of measured steps
  count(*) AS steps,
  -- length of the interval
  avg(a.end_ns - a.start_ns) / 1e6 AS span_ms,
  -- time during which a kernel, copy or memset ran
  avg(a.end_ns - a.start_ns - a.idle_ns) / 1e6 AS busy_ms,
  -- time during which nothing ran
  avg(a.idle_ns) / 1e6 AS idle_ms,
  -- share of the interval
  1.0 * sum(a.idle_ns) / nullif(sum(a.end_ns - a.start_ns), 0) AS idle_share,
  -- number of intervals during which nothing ran
  avg(a.gaps) AS gaps,
  -- longest such interval in any step
  max(a.longest_gap_ns) / 1e3 AS longest_gap_us,
  -- number of kernels, copies and memsets that started in the interval
  avg(a.kernels) AS kernels,
  -- sum of kernel durations; overlapping kernels count separately
  avg(a.kernel_ns) / 1e6 AS kernel_ms
FROM kernel_pass k
JOIN step_activity a ON a.run_id = k.run_id AND a.rank = k.rank AND a.pass = k.pass
WHERE a.warmup = 0
GROUP BY a.run_id, a.rank, a.pass, a.phase;
CREATE VIEW step_span AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass in which it was recorded
  t.pass,
  -- measured step
  t.step,
  -- from the kernel records
  t.span_ns / 1e6 AS span_ms,
  -- from CUDA events
  t.timed_ns / 1e6 AS timed_ms,
  -- span_ms − timed_ms
  (t.span_ns - t.timed_ns) / 1e6 AS difference_ms,
  -- the larger of 1 % and 60 µs
  max(0.01 * t.timed_ns, 60000) / 1e6 AS tolerance_ms,
  -- 1 if the difference is within the tolerance
  abs(t.span_ns - t.timed_ns) <= max(0.01 * t.timed_ns, 60000) AS within_tolerance
FROM (
  SELECT
    a.run_id,
    a.rank,
    a.pass,
    a.step,
    a.end_ns - a.start_ns AS span_ns,
    s.device_ns AS timed_ns
  FROM kernel_pass k
  JOIN step_activity a
    ON a.run_id = k.run_id AND a.rank = k.rank AND a.pass = k.pass AND a.phase = 'step' AND a.warmup = 0
  JOIN sample s
    ON s.run_id = a.run_id
    AND s.rank = a.rank
    AND s.pass = a.pass
    AND s.step = a.step
    AND s.phase = 'step'
    AND s.device_ns IS NOT NULL
) t;
CREATE VIEW outlier_call AS
SELECT
  -- run
  o.run_id,
  -- rank that launched it
  o.rank,
  -- pass in which it ran
  o.pass,
  -- as in kernel
  o.sequence,
  -- step; −1 outside of steps
  o.step,
  -- phase that launched it; `other` outside of phases
  coalesce(p.text, 'other') AS phase,
  -- scope path; NULL if unknown
  s.text AS scope,
  -- scope path without the indices of repeated modules
  (SELECT q.module FROM scope_path q WHERE q.scope_id = o.scope_id) AS module,
  -- kernel class
  coalesce(c.class, 'other') AS class,
  -- name without template arguments, parameters and namespaces
  coalesce(c.short_name, n.text) AS short_name,
  -- full name
  n.text AS name,
  -- duration of the call
  o.duration_ns / 1e3 AS duration_us,
  -- median duration of the group
  o.group_median_ns / 1e3 AS group_median_us,
  -- duration over the group median
  1.0 * o.duration_ns / nullif(o.group_median_ns, 0) AS ratio,
  -- time above the median
  (o.duration_ns - o.group_median_ns) / 1e3 AS excess_us,
  -- number of calls in the group, including this one
  o.group_size,
  -- distance from the median in median absolute deviations
  o.deviation,
  -- SM clock of the nearest sample; NULL if there is none
  o.sm_clock_mhz,
  -- median SM clock of the pass (lower median); NULL without samples
  u.median_mhz AS median_sm_clock_mhz,
  -- possible cause: first call of the kernel, SM clock 3 % below the median, concurrent work (with the longest overlap
  -- among the 256 kernels before and after it), or at least 50 µs of idle time before it
  CASE
    WHEN
      o.first_use = 0
      AND o.concurrent = 0
      AND o.gap_before_ns < 50000
      AND coalesce(o.sm_clock_mhz >= 0.97 * u.median_mhz, 1)
      THEN 'none recorded'
    ELSE
      substr(
        CASE o.first_use WHEN 1 THEN ', first call of this kernel' ELSE '' END
        || CASE
          WHEN o.sm_clock_mhz < 0.97 * u.median_mhz
            THEN ', SM clock ' || o.sm_clock_mhz || ' MHz instead of ' || u.median_mhz || ' MHz'
          ELSE ''
        END
        || CASE
          WHEN o.concurrent > 0
            THEN
              ', ' || o.concurrent || CASE o.concurrent WHEN 1 THEN ' other' ELSE ' others' END
              || ' ran at the same time'
              || coalesce(
                ' ('
                || (
                  SELECT CASE o.concurrent WHEN 1 THEN '' ELSE 'longest ' END || coalesce(y.short_name, x.text)
                  FROM kernel a
                  JOIN kernel b
                    ON b.run_id = a.run_id
                    AND b.rank = a.rank
                    AND b.pass = a.pass
                    AND b.sequence BETWEEN a.sequence - 256 AND a.sequence + 256
                  JOIN string x ON x.string_id = b.name_id
                  LEFT JOIN kernel_class y ON y.name_id = b.name_id
                  WHERE
                    a.run_id = o.run_id
                    AND a.rank = o.rank
                    AND a.pass = o.pass
                    AND a.sequence = o.sequence
                    AND b.sequence <> a.sequence
                    AND b.end_ns > a.start_ns
                    AND b.start_ns < a.end_ns
                  ORDER BY min(b.end_ns, a.end_ns) - max(b.start_ns, a.start_ns) DESC, b.sequence
                  LIMIT 1
                )
                || ')',
                ''
              )
          ELSE ''
        END
        || CASE
          WHEN o.gap_before_ns >= 50000
            THEN ', GPU idle for ' || CAST(round(o.gap_before_ns / 1e3) AS INTEGER) || ' µs before it'
          ELSE ''
        END,
        3
      )
  END AS possible_cause
FROM kernel_pass k
JOIN kernel_outlier o ON o.run_id = k.run_id AND o.rank = k.rank AND o.pass = k.pass
JOIN string n ON n.string_id = o.name_id
LEFT JOIN string p ON p.string_id = o.phase_id
LEFT JOIN string s ON s.string_id = o.scope_id
LEFT JOIN kernel_class c ON c.name_id = o.name_id
LEFT JOIN (
  SELECT
    run_id,
    rank,
    pass,
    sm_clock_mhz AS median_mhz
  FROM (
    SELECT
      run_id,
      rank,
      pass,
      sm_clock_mhz,
      row_number() OVER (PARTITION BY run_id, rank, pass ORDER BY sm_clock_mhz) AS position,
      count(*) OVER (PARTITION BY run_id, rank, pass) AS readings
    FROM gpu_sample
    WHERE sm_clock_mhz IS NOT NULL AND pass <> 'time'
  )
  WHERE position = (readings + 1) / 2
) u ON u.run_id = o.run_id AND u.rank = o.rank AND u.pass = o.pass;
CREATE VIEW device_peak AS
SELECT
  -- device
  d.device_id,
  -- model name
  d.name,
  -- element type: fp32 on CUDA cores; bf16 and fp16 on tensor cores with fp32 accumulation
  p.dtype,
  -- number of streaming multiprocessors
  d.multiprocessors,
  -- operations per clock of one multiprocessor
  p.flops_per_clock,
  -- maximum SM clock; NULL if unknown, in which case the peak is NULL too
  d.max_sm_clock_mhz,
  -- product of the three
  1e6 * d.multiprocessors * p.flops_per_clock * d.max_sm_clock_mhz AS flops_per_s
FROM device d
JOIN (
  SELECT
    m.model,
    e.dtype,
    CASE e.dtype WHEN 'fp32' THEN m.scalar ELSE m.tensor END AS flops_per_clock
  FROM (
    SELECT
      'A100' AS model,
      128 AS scalar,
      2048 AS tensor
    UNION ALL
    SELECT
      'H100',
      256,
      4096
    UNION ALL
    SELECT
      'H200',
      256,
      4096
    UNION ALL
    SELECT
      'B200',
      256,
      8192
  ) m
  CROSS JOIN (
    SELECT 'fp32' AS dtype
    UNION ALL
    SELECT 'bf16'
    UNION ALL
    SELECT 'fp16'
  ) e
) p ON d.kind = 'cuda' AND d.name || ' ' GLOB '*' || p.model || '[^0-9]*';
CREATE VIEW attention_run AS
SELECT
  -- run
  p.run_id,
  -- naive; tiled or flash (kymo's own); or sdpa followed by the LibTorch backend. The implementation that the run
  -- selected, if it got that far
  p.implementation,
  -- sort order of the implementations
  CASE p.implementation
    WHEN 'flash' THEN 0
    WHEN 'naive' THEN 1
    WHEN 'sdpa cudnn' THEN 2
    WHEN 'sdpa flash' THEN 3
    WHEN 'sdpa efficient' THEN 4
    WHEN 'sdpa math' THEN 5
    WHEN 'tiled' THEN 6
    ELSE 7
  END AS implementation_order,
  -- batch size
  p.batch,
  -- number of heads
  p.heads,
  -- sequence length
  p.seq,
  -- head dimension
  p.head_dim,
  -- element type of query, key and value
  p.dtype,
  -- 1 for a causal mask
  p.causal,
  -- forward, backward or forward_backward
  p.mode,
  -- sync, hot or cold
  p.timing,
  -- device the run used; NULL if it did not get that far
  d.device_id,
  -- model name
  d.name AS device_name,
  -- number of blocks of 128 queries, which a kernel can distribute over multiprocessors
  p.batch * p.heads * ((p.seq + 127) / 128) AS query_tiles,
  -- 1 if there is at least one block per multiprocessor; NULL on a CPU
  CASE WHEN d.kind = 'cuda' THEN p.batch * p.heads * ((p.seq + 127) / 128) >= d.multiprocessors END AS fills_device,
  -- size of the full score matrix
  p.batch * p.heads * p.seq * p.seq * CASE p.dtype WHEN 'fp32' THEN 4 ELSE 2 END AS score_matrix_bytes,
  -- size of query, key, value or output
  p.batch * p.heads * p.seq * p.head_dim * CASE p.dtype WHEN 'fp32' THEN 4 ELSE 2 END AS tensor_bytes
FROM (
  SELECT
    r.run_id,
    r.timing AS timing,
    CASE r.workload
      WHEN 'attention_naive' THEN 'naive'
      WHEN 'attention_flash'
        THEN
          coalesce(
            max(CASE WHEN q.name = 'implementation' THEN nullif(q.value, 'auto') END),
            (
              SELECT m.value
              FROM metric m
              WHERE m.run_id = r.run_id AND m.name = 'implementation'
              ORDER BY m.pass <> 'time', m.sequence
              LIMIT 1
            ),
            'auto'
          )
      ELSE
        'sdpa '
        || coalesce(
          max(CASE WHEN q.name = 'backend' THEN nullif(q.value, 'auto') END),
          (
            SELECT m.value
            FROM metric m
            WHERE m.run_id = r.run_id AND m.name = 'backend'
            ORDER BY m.pass <> 'time', m.sequence
            LIMIT 1
          ),
          'auto'
        )
    END AS implementation,
    max(CASE WHEN q.name = 'batch' THEN q.value END) AS batch,
    max(CASE WHEN q.name = 'heads' THEN q.value END) AS heads,
    max(CASE WHEN q.name = 'seq' THEN q.value END) AS seq,
    max(CASE WHEN q.name = 'head_dim' THEN q.value END) AS head_dim,
    max(CASE WHEN q.name = 'dtype' THEN q.value END) AS dtype,
    max(CASE WHEN q.name = 'causal' THEN q.value END) AS causal,
    max(CASE WHEN q.name = 'mode' THEN q.value END) AS mode
  FROM run r
  JOIN param q ON q.run_id = r.run_id
  WHERE r.workload IN ('attention_naive', 'attention_flash', 'attention_sdpa')
  GROUP BY r.run_id
) p
LEFT JOIN (
  SELECT
    run_id,
    min(device_id) AS device_id
  FROM rank
  WHERE device_id IS NOT NULL
  GROUP BY run_id
) k ON k.run_id = p.run_id
LEFT JOIN device d ON d.device_id = k.device_id;
CREATE VIEW attention_time AS
SELECT
  -- run
  t.run_id,
  -- forward or backward; `step` is the whole step
  t.phase,
  -- host or device
  t.clock,
  -- number of samples
  t.count,
  -- mean
  t.mean_ms,
  -- standard deviation
  t.std_ms,
  -- median
  t.median_ms,
  -- floating-point operations as declared by the workload
  w.flops,
  -- 10^12 operations per second
  w.flops / (nullif(t.median_ms, 0) / 1e3) / 1e12 AS tflop_per_s,
  -- 10^9 bytes per second, with the bytes declared by the workload
  w.bytes / (nullif(t.median_ms, 0) / 1e3) / 1e9 AS gb_per_s,
  -- peak of the device for the element type, from device_peak; NULL if unknown
  e.flops_per_s / 1e12 AS peak_tflop_per_s,
  -- share of that peak
  w.flops / (nullif(t.median_ms, 0) / 1e3) / e.flops_per_s AS peak_share
FROM attention_run a
JOIN phase_time t ON t.run_id = a.run_id
LEFT JOIN throughput w ON w.run_id = t.run_id AND w.phase = t.phase
LEFT JOIN device_peak e ON e.device_id = a.device_id AND e.dtype = a.dtype;
CREATE VIEW attention_grid AS
SELECT
  -- run
  a.run_id,
  -- empty if the run completed, `out of memory`, or another status
  s.status_label,
  -- mean time of the forward pass; NULL if not measured
  CASE WHEN s.status_label = '' THEN f.mean_ms END AS forward_ms,
  -- standard deviation
  CASE WHEN s.status_label = '' THEN f.std_ms END AS forward_std_ms,
  -- mean time of the backward pass; NULL if not measured
  CASE WHEN s.status_label = '' THEN b.mean_ms END AS backward_ms,
  -- standard deviation
  CASE WHEN s.status_label = '' THEN b.std_ms END AS backward_std_ms,
  -- bytes allocated when backward begins: as reported by the run on a GPU, otherwise from the memory pass; NULL if
  -- neither is available
  coalesce(
    (SELECT max(m.value) FROM metric m WHERE m.run_id = a.run_id AND m.name = 'memory_before_backward'),
    (
      SELECT max(h.begin_allocated_bytes)
      FROM memory_phase h
      WHERE h.run_id = a.run_id AND h.phase = 'backward' AND h.step >= 0
    )
  ) AS before_backward_bytes,
  -- phase or stage that ran out of memory; NULL if none did
  o.failed_phase,
  -- size of the failed request; NULL if unknown
  o.requested_bytes,
  -- free memory at that time; NULL if unknown
  o.free_bytes
FROM attention_run a
JOIN (
  SELECT
    run_id,
    CASE status_label WHEN 'OOM' THEN 'out of memory' ELSE status_label END AS status_label
  FROM run_status
) s ON s.run_id = a.run_id
LEFT JOIN phase_time f ON f.run_id = a.run_id AND f.phase = 'forward'
LEFT JOIN phase_time b ON b.run_id = a.run_id AND b.phase = 'backward'
LEFT JOIN (
  SELECT
    run_id,
    max(failed_phase) AS failed_phase,
    max(requested_bytes) AS requested_bytes,
    min(free_bytes) AS free_bytes
  FROM oom
  GROUP BY run_id
) o ON o.run_id = a.run_id;
CREATE VIEW oom_block AS
SELECT
  -- run
  l.run_id,
  -- rank that ran out of memory
  l.rank,
  -- cuda or cpu
  l.device,
  -- as in allocation
  l.sequence,
  -- requested size
  l.requested_bytes,
  -- size allocated for it, after rounding
  l.allocated_bytes,
  -- parameter, gradient, optimizer_state, activation, workspace, input or unknown
  l.category,
  -- step of the allocation; −1 outside of steps
  l.step,
  -- phase of the allocation; `other` outside of phases, `outside` outside of steps
  l.phase,
  -- scope path of the allocation without the indices of repeated modules; NULL if unknown
  l.module,
  -- innermost operator that requested it; NULL if there was none
  l.operator
FROM (
  SELECT
    a.run_id,
    a.rank,
    a.pass,
    a.device,
    max(a.sequence) AS last_sequence
  FROM out_of_memory o
  JOIN allocation a
    ON a.run_id = o.run_id
    AND a.rank = o.rank
    AND a.pass = o.pass
    AND a.device = CASE o.location WHEN 'device' THEN 'cuda' ELSE 'cpu' END
  WHERE o.pass = 'memory'
  GROUP BY a.run_id, a.rank, a.pass, a.device
) t
JOIN allocation a
  ON a.run_id = t.run_id
  AND a.rank = t.rank
  AND a.pass = t.pass
  AND a.device = t.device
  AND a.sequence <= t.last_sequence
  AND coalesce(a.free_sequence > t.last_sequence, 1)
JOIN memory_block l ON l.run_id = a.run_id AND l.rank = a.rank AND l.pass = a.pass AND l.sequence = a.sequence;
CREATE VIEW attention_latency AS
WITH backward AS (
  SELECT *
  FROM (
    SELECT
      a.*,
      r.suite,
      r.suite_case,
      r.label,
      row_number() OVER (
        PARTITION BY
          a.implementation,
          a.batch,
          a.heads,
          a.seq,
          a.head_dim,
          a.dtype,
          a.causal,
          a.timing,
          a.device_id,
          r.suite,
          r.suite_case,
          r.label
        ORDER BY a.run_id DESC
      ) AS position
    FROM attention_run a
    JOIN run r ON r.run_id = a.run_id AND r.status = 'ok'
    WHERE a.mode = 'backward'
  )
  WHERE position = 1
)
SELECT
  -- run that timed forward
  p.run_id,
  -- run that timed backward: the same run or another; NULL if there is none
  p.backward_run_id,
  -- as in attention_run
  p.implementation,
  -- as in attention_run
  p.implementation_order,
  -- as in attention_run
  p.batch,
  -- as in attention_run
  p.heads,
  -- as in attention_run
  p.seq,
  -- as in attention_run
  p.head_dim,
  -- as in attention_run
  p.dtype,
  -- as in attention_run
  p.causal,
  -- as in attention_run
  p.timing,
  -- as in attention_run
  p.fills_device,
  -- median time of the forward pass
  f.median_ms AS forward_ms,
  -- median time of the backward pass; NULL if not measured
  b.median_ms AS backward_ms,
  -- median time of both in one step, or the sum of the two medians if they are from two runs
  CASE WHEN p.run_id = p.backward_run_id THEN w.median_ms ELSE f.median_ms + b.median_ms END AS forward_backward_ms,
  -- rate of the forward pass, in 10^12 operations per second
  f.tflop_per_s AS forward_tflop_per_s,
  -- rate of the backward pass
  b.tflop_per_s AS backward_tflop_per_s,
  -- peak of the device, from device_peak; NULL if unknown
  f.peak_tflop_per_s
FROM (
  SELECT
    a.*,
    CASE a.mode WHEN 'forward_backward' THEN a.run_id ELSE b.run_id END AS backward_run_id
  FROM attention_run a
  JOIN run r ON r.run_id = a.run_id AND r.status = 'ok'
  LEFT JOIN backward b
    ON a.mode = 'forward'
    AND b.implementation = a.implementation
    AND b.batch = a.batch
    AND b.heads = a.heads
    AND b.seq = a.seq
    AND b.head_dim = a.head_dim
    AND b.dtype = a.dtype
    AND b.causal = a.causal
    AND b.timing = a.timing
    AND b.device_id IS a.device_id
    AND b.suite = r.suite
    AND b.suite_case = r.suite_case
    AND b.label = r.label
  WHERE a.mode <> 'backward'
) p
JOIN attention_time f ON f.run_id = p.run_id AND f.phase = 'forward'
LEFT JOIN attention_time b ON b.run_id = p.backward_run_id AND b.phase = 'backward'
LEFT JOIN attention_time w ON w.run_id = p.backward_run_id AND w.phase = 'step';
CREATE VIEW rank_clock AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass
  t.pass,
  -- offset to add to a time of this rank to convert it to the shared clock
  t.clock_ns - t.host_ns AS offset_ns,
  -- bound on the error of the offset
  t.error_ns
FROM (
  SELECT
    s.*,
    row_number() OVER (PARTITION BY s.run_id, s.rank, s.pass ORDER BY s.error_ns, s.sequence) AS position
  FROM clock_sync s
  WHERE s.clock = 'supervisor'
) t
WHERE t.position = 1;
CREATE VIEW collective_call AS
SELECT
  -- run
  t.run_id,
  -- rank that made the call
  t.rank,
  -- pass in which it was made
  t.pass,
  -- as in collective
  t.sequence,
  -- name of the communicator
  coalesce((SELECT n.text FROM string n WHERE n.string_id = t.communicator_id), '') AS communicator,
  -- number of the call within its communicator, the same on all ranks
  t.call_number,
  -- number of the first call in the same group (ncclGroupStart/End): grouped calls share their kernels and therefore
  -- their times. Its own number if not grouped
  t.group_number,
  -- all_reduce, reduce_scatter, all_gather, broadcast or barrier
  t.operation,
  -- bytes of this rank's message
  t.bytes,
  -- 1 if it was enqueued on a CUDA stream
  t.on_device,
  -- step of the call; −1 outside of steps
  t.step,
  -- 1 in a measured step
  t.measured,
  -- phase of the call; `other` outside of phases
  coalesce((SELECT p.text FROM string p WHERE p.string_id = t.phase_id), 'other') AS phase,
  -- time of the call, clock of the rank, relative to the start of its run
  t.enqueue_ns / 1e6 AS enqueue_ms,
  -- when the operation started on this rank; NULL if unknown
  t.start_ns / 1e6 AS start_ms,
  -- when the operation completed on this rank; NULL if unknown
  t.end_ns / 1e6 AS end_ms,
  -- from start to end: wait and transfer
  (t.end_ns - t.start_ns) / 1e3 AS duration_us,
  -- start delay relative to the first rank
  CASE WHEN t.complete THEN (t.start_ns + t.offset_ns - t.earliest_ns) / 1e3 END AS late_us,
  -- from its own start to the start of the last rank
  CASE WHEN t.complete THEN (t.latest_ns - t.start_ns - t.offset_ns) / 1e3 END AS wait_us,
  -- from the start of the last rank to its own end; negative if it ended before (possible for the root of a broadcast,
  -- or because of clock error)
  CASE WHEN t.complete THEN (t.end_ns + t.offset_ns - t.latest_ns) / 1e3 END AS transfer_us,
  -- from the start of the last rank to the end of the last rank to finish: the same on all ranks
  CASE WHEN t.complete AND t.ends = t.ranks THEN (t.done_ns - t.latest_ns) / 1e3 END AS call_transfer_us,
  -- rank that started last, the lowest if tied; NULL for a run with one rank
  CASE WHEN t.complete AND t.ranks > 1 THEN t.last_begun END AS last_rank,
  -- bound on the clock error between two ranks
  CASE WHEN t.complete THEN t.error_ns / 1e3 END AS clock_error_us,
  -- number of ranks of the run
  t.ranks
FROM (
  SELECT
    a.*,
    min(a.first_number) OVER same AS group_number,
    max(a.start_ns + a.offset_ns) OVER same AS latest_ns,
    min(a.start_ns + a.offset_ns) OVER same AS earliest_ns,
    max(a.end_ns + a.offset_ns) OVER same AS done_ns,
    count(a.end_ns) OVER same AS ends,
    count(a.start_ns + a.offset_ns) OVER same = a.ranks AS complete,
    first_value(a.rank) OVER (
      PARTITION BY a.run_id, a.pass, a.communicator_id, a.call_number
      ORDER BY a.start_ns + a.offset_ns DESC, a.rank
    ) AS last_begun,
    2 * max(a.clock_error_ns) OVER same AS error_ns
  FROM (
    SELECT
      c.*,
      r.ranks,
      CASE
        WHEN c.kernels > 0
          THEN min(c.call_number) OVER (PARTITION BY c.run_id, c.rank, c.pass, c.communicator_id, c.start_ns, c.end_ns)
        ELSE c.call_number
      END AS first_number,
      CASE r.ranks WHEN 1 THEN 0 ELSE k.offset_ns END AS offset_ns,
      CASE r.ranks WHEN 1 THEN 0 ELSE k.error_ns END AS clock_error_ns,
      coalesce(
        (
          SELECT s.warmup = 0
          FROM sample s
          WHERE s.run_id = c.run_id AND s.rank = c.rank AND s.pass = c.pass AND s.step = c.step AND s.phase = 'step'
        ),
        0
      ) AS measured
    FROM run r
    CROSS JOIN collective c ON c.run_id = r.run_id
    LEFT JOIN rank_clock k ON k.run_id = c.run_id AND k.rank = c.rank AND k.pass = c.pass
  ) a
  WINDOW same AS (PARTITION BY a.run_id, a.pass, a.communicator_id, a.call_number)
) t;
CREATE VIEW collective_summary AS
WITH call AS (
  SELECT
    c.run_id,
    c.pass,
    c.communicator,
    c.phase,
    c.operation,
    c.call_number,
    min(c.group_number) AS group_number,
    max(c.ranks) AS ranks,
    max(c.on_device) AS on_device,
    max(c.bytes) AS bytes,
    avg(c.wait_us) AS wait_us,
    max(c.late_us) AS spread_us,
    max(c.call_transfer_us) AS transfer_us,
    max(c.last_rank) AS last_rank,
    max(c.clock_error_us) AS clock_error_us
  FROM collective_call c
  WHERE c.measured
  GROUP BY c.run_id, c.pass, c.communicator, c.phase, c.operation, c.call_number
),
launched AS (
  SELECT
    run_id,
    pass,
    communicator,
    phase,
    operation,
    group_number,
    max(ranks) AS ranks,
    max(on_device) AS on_device,
    count(*) AS calls,
    sum(bytes) AS bytes,
    avg(wait_us) AS wait_us,
    max(spread_us) AS spread_us,
    max(transfer_us) AS transfer_us,
    max(last_rank) AS last_rank,
    max(clock_error_us) AS clock_error_us
  FROM call
  GROUP BY run_id, pass, communicator, phase, operation, group_number
),
placed AS (
  SELECT
    a.*,
    row_number() OVER (
      PARTITION BY a.run_id, a.pass, a.communicator, a.phase, a.operation
      ORDER BY a.transfer_us IS NULL, a.transfer_us
    ) AS position,
    count(a.transfer_us) OVER (PARTITION BY a.run_id, a.pass, a.communicator, a.phase, a.operation) AS compared_launches
  FROM launched a
),
late AS (
  SELECT
    l.run_id,
    l.pass,
    l.communicator,
    l.phase,
    l.operation,
    l.last_rank,
    l.launches,
    row_number() OVER (
      PARTITION BY l.run_id, l.pass, l.communicator, l.phase, l.operation
      ORDER BY l.launches DESC, l.last_rank
    ) AS position
  FROM (
    SELECT
      run_id,
      pass,
      communicator,
      phase,
      operation,
      last_rank,
      count(*) AS launches
    FROM launched
    WHERE last_rank IS NOT NULL
    GROUP BY run_id, pass, communicator, phase, operation, last_rank
  ) l
)
SELECT
  -- run
  g.run_id,
  -- pass in which they were made
  g.pass,
  -- name of the communicator
  g.communicator,
  -- phase of the calls; `other` outside of phases
  g.phase,
  -- all_reduce, reduce_scatter, all_gather, broadcast or barrier
  g.operation,
  -- number of ranks of the run
  g.ranks,
  -- 1 if they were enqueued on a CUDA stream
  g.on_device,
  -- measured steps whose calls were retained
  g.steps,
  -- calls per step on one rank
  1.0 * g.calls / nullif(g.steps, 0) AS calls,
  -- launches per step on one rank: grouped calls count once
  1.0 * g.launches / nullif(g.steps, 0) AS launches,
  -- message bytes per step of one rank
  1.0 * g.bytes / nullif(g.steps, 0) AS bytes,
  -- bytes that a rank moves over its links per step: message bytes times the busbw factor
  1.0 * g.bytes * g.bus_factor / nullif(g.steps, 0) AS bus_bytes,
  -- number of launches that can be compared across all ranks
  g.compared_launches,
  -- mean wait for the last rank, per launch; NULL if no launch can be compared
  g.wait_us,
  -- median transfer time of a launch
  g.median_transfer_us,
  -- mean transfer time of a launch
  g.transfer_us,
  -- wait time per step
  g.wait_us * g.launches / 1e3 / nullif(g.steps, 0) AS wait_ms,
  -- transfer time per step; overlapping launches count separately
  g.transfer_us * g.launches / 1e3 / nullif(g.steps, 0) AS transfer_ms,
  -- wait over wait + transfer
  g.wait_us / nullif(g.wait_us + g.transfer_us, 0) AS wait_share,
  -- mean start skew: start of the last rank − start of the first rank
  g.spread_us,
  -- rank that was last most often; NULL for a run with one rank
  l.last_rank AS straggler,
  -- share of the launches in which it was last
  1.0 * l.launches / nullif(g.launches_with_last, 0) AS straggler_share,
  -- bound on the clock error: shorter waits are not significant
  g.clock_error_us,
  -- algorithm bandwidth in GB/s: message bytes over transfer time
  g.timed_bytes / nullif(g.timed_us, 0) / 1e3 AS algbw_gb_s,
  -- bus bandwidth as in nccl-tests: algbw times 2(n−1)/n for all_reduce, (n−1)/n for reduce_scatter and all_gather, 1
  -- for broadcast
  g.timed_bytes / nullif(g.timed_us, 0) / 1e3 * g.bus_factor AS busbw_gb_s
FROM (
  SELECT
    p.run_id,
    p.pass,
    p.communicator,
    p.phase,
    p.operation,
    max(p.ranks) AS ranks,
    max(p.on_device) AS on_device,
    sum(p.calls) AS calls,
    count(*) AS launches,
    sum(p.bytes) AS bytes,
    CASE (SELECT r.keep FROM run r WHERE r.run_id = p.run_id)
      WHEN 'one-step' THEN 1
      ELSE
        (
          SELECT count(DISTINCT s.step)
          FROM sample s
          WHERE s.run_id = p.run_id AND s.pass = p.pass AND s.phase = 'step' AND s.warmup = 0
        )
    END AS steps,
    max(p.compared_launches) AS compared_launches,
    avg(p.wait_us) AS wait_us,
    avg(p.transfer_us) AS transfer_us,
    avg(p.spread_us) AS spread_us,
    max(p.clock_error_us) AS clock_error_us,
    avg(
      CASE
        WHEN p.position IN ((p.compared_launches + 1) / 2, (p.compared_launches + 2) / 2) THEN p.transfer_us
      END
    ) AS median_transfer_us,
    count(p.last_rank) AS launches_with_last,
    sum(CASE WHEN p.transfer_us > 0 THEN 1.0 * p.bytes END) AS timed_bytes,
    sum(CASE WHEN p.transfer_us > 0 THEN p.transfer_us END) AS timed_us,
    CASE p.operation
      WHEN 'all_reduce' THEN 2.0 * (max(p.ranks) - 1) / max(p.ranks)
      WHEN 'broadcast' THEN 1.0
      WHEN 'barrier' THEN 0.0
      ELSE 1.0 * (max(p.ranks) - 1) / max(p.ranks)
    END AS bus_factor
  FROM placed p
  GROUP BY p.run_id, p.pass, p.communicator, p.phase, p.operation
) g
LEFT JOIN late l
  ON l.run_id = g.run_id
  AND l.pass = g.pass
  AND l.communicator = g.communicator
  AND l.phase = g.phase
  AND l.operation = g.operation
  AND l.position = 1;
CREATE VIEW collective_straggler AS
SELECT
  -- run
  c.run_id,
  -- pass in which the calls were made
  c.pass,
  -- rank
  c.rank,
  -- number of comparable calls
  count(*) AS calls,
  -- number of calls that this rank started last
  sum(c.last_rank = c.rank) AS last_calls,
  -- share of calls that this rank started last; 1/n for n equal ranks
  1.0 * sum(c.last_rank = c.rank) / count(*) AS last_share,
  -- mean start delay relative to the first rank
  avg(c.late_us) AS late_us,
  -- maximum start delay
  max(c.late_us) AS max_late_us,
  -- mean wait for the last rank
  avg(c.wait_us) AS wait_us
FROM collective_call c
WHERE c.measured AND c.last_rank IS NOT NULL AND c.call_number = c.group_number
GROUP BY c.run_id, c.pass, c.rank;
CREATE VIEW collective_overlap AS
WITH observed AS (
  SELECT
    c.run_id,
    c.rank,
    c.pass,
    c.step,
    c.sequence,
    c.start_ns,
    c.end_ns,
    max(c.end_ns) OVER (
      PARTITION BY c.run_id, c.rank, c.pass, c.step
      ORDER BY c.start_ns, c.sequence
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS before_ns
  FROM collective c
  JOIN sample s
    ON s.run_id = c.run_id
    AND s.rank = c.rank
    AND s.pass = c.pass
    AND s.step = c.step
    AND s.phase = 'step'
    AND s.warmup = 0
  WHERE c.on_device = 0 AND c.start_ns IS NOT NULL AND c.end_ns IS NOT NULL
),
stretch AS (
  SELECT
    run_id,
    rank,
    pass,
    step,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns
  FROM (
    SELECT
      o.*,
      sum(o.before_ns IS NULL OR o.start_ns > o.before_ns) OVER (
        PARTITION BY o.run_id, o.rank, o.pass, o.step
        ORDER BY o.start_ns, o.sequence
      ) AS island
    FROM observed o
  )
  GROUP BY run_id, rank, pass, step, island
),
part AS (
  SELECT
    e.run_id,
    e.rank,
    e.pass,
    e.step,
    'step' AS phase,
    e.end_ns - e.start_ns AS in_flight_ns
  FROM stretch e
  UNION ALL
  SELECT
    e.run_id,
    e.rank,
    e.pass,
    e.step,
    n.text,
    max(min(e.end_ns, g.end_ns) - max(e.start_ns, g.start_ns), 0)
  FROM stretch e
  JOIN "range" g
    ON g.run_id = e.run_id AND g.rank = e.rank AND g.pass = e.pass AND g.step = e.step AND g.kind = 'phase'
  JOIN string n ON n.string_id = g.name_id
)
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass in which they were made
  t.pass,
  -- phase of the host; `step` is the whole step
  t.phase,
  -- number of measured steps with calls
  t.steps,
  -- time per step during which at least one call was in flight
  t.in_flight_ms,
  -- share of the in-flight time of the whole step
  t.in_flight_ms
  / nullif(
    max(CASE t.phase WHEN 'step' THEN t.in_flight_ms END) OVER (PARTITION BY t.run_id, t.rank, t.pass),
    0
  ) AS share
FROM (
  SELECT
    p.run_id,
    p.rank,
    p.pass,
    p.phase,
    w.steps,
    sum(p.in_flight_ns) / 1e6 / w.steps AS in_flight_ms
  FROM part p
  JOIN (
    SELECT
      run_id,
      rank,
      pass,
      count(DISTINCT step) AS steps
    FROM stretch
    GROUP BY run_id, rank, pass
  ) w ON w.run_id = p.run_id AND w.rank = p.rank AND w.pass = p.pass
  GROUP BY p.run_id, p.rank, p.pass, p.phase
) t;
CREATE VIEW communication_overlap AS
SELECT
  -- run
  a.run_id,
  -- rank
  a.rank,
  -- pass in which it was recorded
  a.pass,
  -- phase; `step` is the whole step
  a.phase,
  -- number of measured steps
  sum(a.warmup = 0) AS steps,
  -- length of the interval
  avg(CASE a.warmup WHEN 0 THEN a.end_ns - a.start_ns END) / 1e6 AS span_ms,
  -- time during which a compute kernel (any kernel but communication) ran
  avg(CASE a.warmup WHEN 0 THEN a.compute_ns END) / 1e6 AS compute_ms,
  -- time during which a communication kernel ran
  avg(CASE a.warmup WHEN 0 THEN a.comm_ns END) / 1e6 AS communication_ms,
  -- time during which both ran
  avg(CASE a.warmup WHEN 0 THEN a.overlap_ns END) / 1e6 AS overlap_ms,
  -- time during which only communication ran
  avg(CASE a.warmup WHEN 0 THEN a.exposed_comm_ns END) / 1e6 AS exposed_ms,
  -- share of the interval
  1.0 * sum(CASE a.warmup WHEN 0 THEN a.exposed_comm_ns END)
  / nullif(sum(CASE a.warmup WHEN 0 THEN a.end_ns - a.start_ns END), 0) AS exposed_share,
  -- overlap over communication in the measured steps: the hidden share of communication
  1.0 * sum(CASE a.warmup WHEN 0 THEN a.overlap_ns END)
  / nullif(sum(CASE a.warmup WHEN 0 THEN a.comm_ns END), 0) AS overlap_share
FROM kernel_pass k
JOIN step_activity a ON a.run_id = k.run_id AND a.rank = k.rank AND a.pass = k.pass
WHERE
  EXISTS (
    SELECT 1
    FROM step_activity e
    WHERE e.run_id = k.run_id AND e.rank = k.rank AND e.pass = k.pass AND e.comm_ns > 0
  )
GROUP BY a.run_id, a.rank, a.pass, a.phase
HAVING sum(a.warmup = 0) > 0;
CREATE VIEW trace_overlap AS
WITH run_time AS (
  SELECT
    k.run_id,
    k.rank,
    k.pass,
    k.start_ns,
    k.end_ns,
    coalesce(c.class, 'other') = 'communication' AS communicates
  FROM kernel k
  LEFT JOIN kernel_class c ON c.name_id = k.name_id
),
added AS (
  SELECT
    run_id,
    rank,
    pass,
    communicates,
    max(
      0,
      end_ns
      - max(
        start_ns,
        coalesce(
          max(end_ns) OVER (
            PARTITION BY run_id, rank, pass, communicates
            ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
          ),
          start_ns
        )
      )
    ) AS own_ns,
    max(
      0,
      end_ns
      - max(
        start_ns,
        coalesce(
          max(end_ns) OVER (
            PARTITION BY run_id, rank, pass
            ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
          ),
          start_ns
        )
      )
    ) AS any_ns
  FROM run_time
)
SELECT
  -- run
  run_id,
  -- rank
  rank,
  -- pass in which it was recorded
  pass,
  -- time during which a compute kernel (any kernel but communication) ran
  sum(own_ns * (1 - communicates)) / 1e6 AS compute_ms,
  -- time during which a communication kernel ran
  sum(own_ns * communicates) / 1e6 AS communication_ms,
  -- time during which both ran
  (sum(own_ns) - sum(any_ns)) / 1e6 AS overlap_ms,
  -- share of communication that overlaps with compute
  1.0 * (sum(own_ns) - sum(any_ns)) / sum(own_ns * communicates) AS overlap_share
FROM added
GROUP BY run_id, rank, pass
HAVING sum(own_ns * communicates) > 0;
CREATE VIEW rank_time AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- phase, or `step` for the whole step
  t.phase,
  -- number of measured steps
  count(*) AS steps,
  -- mean
  avg(t.time_ns) / 1e6 AS mean_ms,
  -- median
  avg(CASE WHEN t.position IN ((t.steps + 1) / 2, (t.steps + 2) / 2) THEN t.time_ns END) / 1e6 AS median_ms,
  -- maximum
  max(t.time_ns) / 1e6 AS max_ms
FROM (
  SELECT
    s.run_id,
    s.rank,
    s.phase,
    coalesce(s.device_ns, s.host_ns) AS time_ns,
    count(*) OVER (PARTITION BY s.run_id, s.rank, s.phase) AS steps,
    row_number() OVER (PARTITION BY s.run_id, s.rank, s.phase ORDER BY coalesce(s.device_ns, s.host_ns)) AS position
  FROM sample s
  WHERE s.pass = 'time' AND s.warmup = 0
) t
GROUP BY t.run_id, t.rank, t.phase;
CREATE VIEW rank_spread AS
SELECT
  -- run
  t.run_id,
  -- number of ranks that measured
  count(*) AS ranks,
  -- mean of the ranks' median step times
  avg(t.median_ms) AS mean_ms,
  -- lowest median step time of a rank
  min(t.median_ms) AS fastest_ms,
  -- highest median step time of a rank
  max(t.median_ms) AS slowest_ms,
  -- slowest_ms − fastest_ms
  max(t.median_ms) - min(t.median_ms) AS spread_ms,
  -- rank with the highest median, the lowest rank if tied
  min(CASE t.position WHEN 1 THEN t.rank END) AS slowest_rank
FROM (
  SELECT
    run_id,
    rank,
    median_ms,
    row_number() OVER (PARTITION BY run_id ORDER BY median_ms DESC, rank) AS position
  FROM rank_time
  WHERE phase = 'step'
) t
GROUP BY t.run_id;
CREATE VIEW run_machine AS
SELECT
  -- run
  r.run_id,
  -- devices of its ranks and their hosts
  coalesce(
    (
      SELECT group_concat(h.part, ', ')
      FROM (
        SELECT DISTINCT coalesce(d.name, r.device_kind) || CASE k.host WHEN '' THEN '' ELSE ' on ' || k.host END AS part
        FROM rank k
        LEFT JOIN device d ON d.device_id = k.device_id
        WHERE k.run_id = r.run_id
        ORDER BY 1
      ) h
    ),
    r.device_kind
  ) AS machine
FROM run r;
CREATE VIEW all_reduce_bandwidth AS
SELECT
  -- run
  t.run_id,
  -- as in run_machine
  t.machine,
  -- gloo or nccl
  t.backend,
  -- all_reduce, reduce_scatter, all_gather or broadcast
  t.operation,
  -- element type
  t.dtype,
  -- 1 for an in-place operation
  t.in_place,
  -- number of processes
  t.ranks,
  -- message size per rank: input of reduce_scatter, output of all_gather
  t.bytes,
  -- number of measured steps; NULL, like all values, for a failed run
  t.steps,
  -- calls per step
  t.calls,
  -- median step time over the calls per step
  t.median_ms,
  -- mean step time over the calls per step
  t.mean_ms,
  -- standard deviation
  t.std_ms,
  -- rank with the highest median step time
  t.slowest_rank,
  -- highest − lowest median step time of a rank, over the calls per step
  t.spread_ms,
  -- algorithm bandwidth in GB/s: message size over median time
  t.bytes / nullif(t.median_ms, 0) / 1e6 AS algbw_gb_s,
  -- bus bandwidth as in nccl-tests: algbw times 2(n−1)/n for all_reduce, (n−1)/n for reduce_scatter and all_gather, 1
  -- for broadcast; 0 for one rank except for broadcast
  t.bytes / nullif(t.median_ms, 0) / 1e6 * t.bus_factor AS busbw_gb_s
FROM (
  SELECT
    r.run_id,
    m.machine,
    r.ranks,
    q.operation,
    q.dtype,
    q.in_place,
    q.calls,
    p.count AS steps,
    p.median_ms / q.calls AS median_ms,
    p.mean_ms / q.calls AS mean_ms,
    p.std_ms / q.calls AS std_ms,
    w.slowest_rank,
    w.spread_ms / q.calls AS spread_ms,
    CASE coalesce(q.backend, 'auto')
      WHEN 'auto' THEN CASE r.device_kind WHEN 'cuda' THEN 'nccl' ELSE 'gloo' END
      ELSE q.backend
    END AS backend,
    coalesce(
      (SELECT max(v.value) FROM metric v WHERE v.run_id = r.run_id AND v.name = 'message_bytes'),
      q.bytes
    ) AS bytes,
    CASE q.operation
      WHEN 'all_reduce' THEN 2.0 * (r.ranks - 1) / r.ranks
      WHEN 'broadcast' THEN 1.0
      ELSE 1.0 * (r.ranks - 1) / r.ranks
    END AS bus_factor
  FROM (
    SELECT
      o.run_id,
      max(CASE x.name WHEN 'backend' THEN x.value END) AS backend,
      max(CASE x.name WHEN 'bytes' THEN x.value END) AS bytes,
      coalesce(max(CASE x.name WHEN 'dtype' THEN x.value END), 'fp32') AS dtype,
      coalesce(max(CASE x.name WHEN 'in_place' THEN x.value END), 1) AS in_place,
      coalesce(max(CASE x.name WHEN 'calls' THEN 1.0 * x.value END), 1) AS calls,
      coalesce(max(CASE x.name WHEN 'operation' THEN x.value END), 'all_reduce') AS operation
    FROM run o
    LEFT JOIN param x ON x.run_id = o.run_id
    WHERE o.workload = 'all_reduce'
    GROUP BY o.run_id
  ) q
  JOIN run r ON r.run_id = q.run_id
  JOIN run_machine m ON m.run_id = r.run_id
  LEFT JOIN phase_time p ON p.run_id = r.run_id AND p.phase = 'step' AND p.status = 'ok'
  LEFT JOIN rank_spread w ON w.run_id = r.run_id
) t;
CREATE VIEW all_reduce_fit AS
WITH newest AS (
  SELECT t.*
  FROM (
    SELECT
      b.*,
      row_number() OVER (
        PARTITION BY b.machine, b.backend, b.ranks, b.dtype, b.in_place, b.bytes
        ORDER BY b.run_id DESC
      ) AS position
    FROM all_reduce_bandwidth b
    WHERE b.operation = 'all_reduce' AND b.ranks > 1 AND b.bytes > 0 AND b.median_ms > 0
  ) t
  WHERE t.position = 1
),
total AS (
  SELECT
    machine,
    backend,
    ranks,
    dtype,
    in_place,
    count(*) AS message_sizes,
    min(bytes) AS smallest_bytes,
    max(bytes) AS largest_bytes,
    max(run_id) AS newest_run_id,
    sum(1 / (median_ms / 1e3 * median_ms / 1e3)) AS w,
    sum(bytes / (median_ms / 1e3 * median_ms / 1e3)) AS wx,
    sum(1 / (median_ms / 1e3)) AS wy,
    sum(1.0 * bytes * bytes / (median_ms / 1e3 * median_ms / 1e3)) AS wxx,
    sum(bytes / (median_ms / 1e3)) AS wxy
  FROM newest
  GROUP BY machine, backend, ranks, dtype, in_place
),
line AS (
  SELECT
    t.*,
    (t.w * t.wxy - t.wx * t.wy) / (t.w * t.wxx - t.wx * t.wx) AS slope
  FROM total t
  WHERE t.message_sizes > 1
),
kept AS (
  SELECT
    l.*,
    CASE
      WHEN l.slope <= 0 THEN l.wy / l.w
      WHEN l.wy < l.slope * l.wx THEN 0.0
      ELSE (l.wy - l.slope * l.wx) / l.w
    END AS alpha_s,
    CASE WHEN l.slope <= 0 THEN NULL WHEN l.wy < l.slope * l.wx THEN l.wxy / l.wxx ELSE l.slope END AS s_per_byte
  FROM line l
)
SELECT
  -- as in run_machine
  k.machine,
  -- gloo or nccl
  k.backend,
  -- number of processes
  k.ranks,
  -- element type
  k.dtype,
  -- 1 for an in-place operation
  k.in_place,
  -- number of message sizes in the fit; with two the fit is exact
  k.message_sizes,
  -- smallest message size
  k.smallest_bytes,
  -- largest message size
  k.largest_bytes,
  -- newest run in the fit
  k.newest_run_id,
  -- time per call, independent of the size
  k.alpha_s * 1e6 AS alpha_us,
  -- bandwidth of the size-dependent term in GB/s, comparable to algbw; NULL if the time does not grow with the size
  1 / k.s_per_byte / 1e9 AS bandwidth_gb_s,
  -- largest relative residual of the fit
  (
    SELECT max(abs((k.alpha_s + n.bytes * coalesce(k.s_per_byte, 0)) / (n.median_ms / 1e3) - 1))
    FROM newest n
    WHERE
      n.machine = k.machine
      AND n.backend = k.backend
      AND n.ranks = k.ranks
      AND n.dtype = k.dtype
      AND n.in_place = k.in_place
  ) AS largest_residual
FROM kept k;
CREATE VIEW bucket_prediction AS
WITH RECURSIVE bucketed AS (
  SELECT
    d.run_id,
    d.setting,
    d.comparison_group,
    d.machine,
    d.backend,
    d.ranks,
    d.dtype,
    d.bucket_mb,
    1048576.0 * d.bucket_mb AS bucket_bytes,
    p.median_ms,
    (
      SELECT CAST(max(v.value) AS INTEGER)
      FROM metric v
      WHERE v.run_id = d.run_id AND v.name = 'gradient_bytes'
    ) AS gradient_bytes,
    coalesce(
      (SELECT max(v.value) FROM metric v WHERE v.run_id = d.run_id AND v.name = 'parameter_tensors'),
      9e18
    ) AS tensors,
    (
      SELECT b.median_ms
      FROM (
        SELECT
          a.run_id,
          q.median_ms,
          a.workload = d.workload AS same_workload,
          coalesce(a.bucket_mb = d.bucket_mb, 0) AS same_bucket
        FROM ddp_run a
        JOIN phase_time q ON q.run_id = a.run_id AND q.phase = 'step' AND q.status = 'ok'
        WHERE a.comparison_group = d.comparison_group AND a.communicate = 0
      ) b
      ORDER BY b.same_workload DESC, b.same_bucket DESC, b.run_id DESC
      LIMIT 1
    ) AS compute_only_ms
  FROM ddp_run d
  JOIN phase_time p ON p.run_id = d.run_id AND p.phase = 'step' AND p.status = 'ok'
  WHERE d.workload = 'ddp_bucketed' AND d.communicate = 1 AND d.bucket_mb > 0 AND d.taper = 0
),
fitted AS (
  SELECT t.*
  FROM (
    SELECT
      b.*,
      f.alpha_us / 1e6 AS o,
      f.bandwidth_gb_s * 1e9 AS w,
      CAST(
        min(
          CAST(b.gradient_bytes / b.bucket_bytes AS INTEGER)
          + (b.gradient_bytes / b.bucket_bytes > CAST(b.gradient_bytes / b.bucket_bytes AS INTEGER)),
          b.tensors
        ) AS INTEGER
      ) AS buckets,
      row_number() OVER (PARTITION BY b.run_id ORDER BY f.in_place DESC) AS position
    FROM bucketed b
    LEFT JOIN all_reduce_fit f
      ON f.machine = b.machine
      AND f.backend = b.backend
      AND f.ranks = b.ranks
      AND f.dtype = b.dtype
      AND f.bandwidth_gb_s IS NOT NULL
  ) t
  WHERE t.position = 1
),
root (run_id, square, guess, iteration) AS (
  SELECT
    run_id,
    o * gradient_bytes * w,
    max(o * gradient_bytes * w, 1),
    0
  FROM fitted
  WHERE o * gradient_bytes * w > 0
  UNION ALL
  SELECT
    run_id,
    square,
    (guess + square / guess) / 2,
    iteration + 1
  FROM root
  WHERE iteration < 80 AND abs(guess * guess - square) > 1e-12 * square
)
SELECT
  -- run
  f.run_id,
  -- as in ddp_run
  f.setting,
  -- as in ddp_run
  f.comparison_group,
  -- bucket size limit in MiB
  f.bucket_mb,
  -- total gradient size
  f.gradient_bytes,
  -- number of buckets, by that formula
  f.buckets,
  -- traced all_reduce launches per step, grouped calls counting once; NULL without a trace
  (
    SELECT sum(c.launches)
    FROM collective_summary c
    WHERE c.run_id = f.run_id AND c.pass = 'trace' AND c.operation = 'all_reduce'
  ) AS launches,
  -- time per call from all_reduce_fit; NULL if there is no fit for this machine, backend, ranks and element type
  f.o * 1e6 AS alpha_us,
  -- bandwidth from all_reduce_fit
  f.w / 1e9 AS bandwidth_gb_s,
  -- median step of a run in the same comparison group that does not exchange gradients; NULL if there is none
  f.compute_only_ms,
  -- s/(n·w) + n·o
  (f.gradient_bytes / (f.buckets * f.w) + f.buckets * f.o) * 1e3 AS predicted_overhead_ms,
  -- step without exchange plus predicted overhead
  f.compute_only_ms + (f.gradient_bytes / (f.buckets * f.w) + f.buckets * f.o) * 1e3 AS predicted_ms,
  -- measured median step
  f.median_ms AS measured_ms,
  -- measured step − step without exchange
  f.median_ms - f.compute_only_ms AS measured_overhead_ms,
  -- predicted over measured step − 1
  (f.compute_only_ms + (f.gradient_bytes / (f.buckets * f.w) + f.buckets * f.o) * 1e3) / nullif(f.median_ms, 0)
  - 1 AS relative_error,
  -- bucket size at the minimum of the model: √(o·s·w), in MiB; 0 if calls cost nothing
  CASE
    WHEN f.o * f.w = 0 THEN 0.0
    ELSE (SELECT r.guess FROM root r WHERE r.run_id = f.run_id ORDER BY r.iteration DESC LIMIT 1) / 1048576
  END AS best_bucket_mb,
  -- bucket size of the fastest run in the comparison group
  (
    SELECT b.bucket_mb
    FROM bucketed b
    WHERE b.comparison_group = f.comparison_group
    ORDER BY b.median_ms, b.run_id DESC
    LIMIT 1
  ) AS best_measured_bucket_mb
FROM fitted f;
CREATE VIEW ddp_run AS
SELECT
  -- run
  t.run_id,
  -- ddp_naive, ddp_flat, ddp_overlap, ddp_bucketed, ddp_torch or sharded_optimizer
  t.workload,
  -- workload with its distinguishing settings: bucket size, sharding scheme, or no gradient exchange
  t.workload
  || CASE
    WHEN t.communicate = 0 THEN ', no exchange'
    WHEN t.scheme IS NOT NULL
      THEN
        ', ' || t.scheme
        || CASE
          WHEN t.scheme = 'broadcast' AND t.flat = 0 THEN ' one by one'
          WHEN t.scheme = 'zero1' AND t.overlap = 0 THEN ' after backward'
          ELSE ''
        END
    WHEN t.bucket_mb IS NOT NULL
      THEN
        ', ' || printf('%g', t.bucket_mb) || ' MiB' || CASE t.gradients WHEN 'separate' THEN ', separate' ELSE '' END
        || CASE t.taper WHEN 1 THEN ', tapered' ELSE '' END
    WHEN t.copy = 1 THEN ', copied'
    ELSE ''
  END AS strategy,
  -- sort order of the strategies
  CASE t.workload
    WHEN 'ddp_naive' THEN 0
    WHEN 'ddp_flat' THEN 1
    WHEN 'ddp_overlap' THEN 2
    WHEN 'ddp_bucketed' THEN 3
    WHEN 'ddp_torch' THEN 4
    ELSE 5
  END
  + CASE t.communicate WHEN 0 THEN 10 ELSE 0 END AS strategy_order,
  -- model size name
  t.model,
  -- tokens per sequence
  t.context,
  -- sequences per rank and step
  t.batch,
  -- element type, with `autocast` if enabled
  t.dtype || CASE t.autocast WHEN 1 THEN ' autocast' ELSE '' END AS precision,
  -- element type of parameters and gradients
  t.dtype,
  -- gloo or nccl
  t.backend,
  -- number of processes
  t.ranks,
  -- 0 if gradients are not exchanged, which gives wrong training results and the compute-only time
  t.communicate,
  -- bucket size limit in MiB; NULL without buckets
  CASE WHEN t.scheme IS NULL OR t.scheme = 'zero1' THEN t.bucket_mb END AS bucket_mb,
  -- 1 if each bucket is also limited to half of the remaining gradients
  coalesce(t.taper, 0) AS taper,
  -- sharding scheme: none, broadcast or zero1; NULL without sharding
  t.scheme,
  -- as in run_machine
  t.machine,
  -- description of model, batch, precision, backend and ranks
  t.model || ', context ' || t.context || ', batch ' || t.batch || ', ' || t.dtype
  || CASE t.autocast WHEN 1 THEN ' autocast' ELSE '' END || ', ' || t.backend || ', ' || t.ranks
  || CASE t.ranks WHEN 1 THEN ' rank' ELSE ' ranks' END AS setting,
  -- settings that must be equal for strategies to be compared
  t.model || '|' || t.context || '|' || t.batch || '|' || t.dtype || '|' || t.autocast || '|' || t.attention || '|'
  || t.optimizer || '|' || t.backend || '|' || t.ranks || '|' || t.wrapped || '|' || t.sync || '|'
  || t.machine AS comparison_group
FROM (
  SELECT
    r.run_id,
    r.workload,
    r.ranks,
    r.sync,
    m.machine,
    p.bucket_mb,
    p.scheme,
    coalesce(p.model, '') AS model,
    coalesce(p.context, 0) AS context,
    coalesce(p.batch, 0) AS batch,
    coalesce(p.dtype, 'fp32') AS dtype,
    coalesce(p.autocast, 0) AS autocast,
    coalesce(p.attention, '') AS attention,
    coalesce(p.optimizer, '') AS optimizer,
    coalesce(p.wrapped, 'configured') AS wrapped,
    p.copy,
    p.gradients,
    p.taper,
    p.flat,
    p.overlap,
    coalesce(p.communicate, 1) AS communicate,
    CASE coalesce(p.backend, 'auto')
      WHEN 'auto' THEN CASE r.device_kind WHEN 'cuda' THEN 'nccl' ELSE 'gloo' END
      ELSE p.backend
    END AS backend
  FROM run r
  JOIN run_machine m ON m.run_id = r.run_id
  LEFT JOIN (
    SELECT
      q.run_id,
      max(CASE q.name WHEN 'model' THEN q.value END) AS model,
      max(CASE q.name WHEN 'context' THEN q.value END) AS context,
      max(CASE q.name WHEN 'batch' THEN q.value END) AS batch,
      max(CASE q.name WHEN 'dtype' THEN q.value END) AS dtype,
      max(CASE q.name WHEN 'autocast' THEN q.value END) AS autocast,
      max(CASE q.name WHEN 'attention' THEN q.value END) AS attention,
      max(CASE q.name WHEN 'optimizer' THEN q.value END) AS optimizer,
      max(CASE q.name WHEN 'backend' THEN q.value END) AS backend,
      max(CASE q.name WHEN 'communicate' THEN q.value END) AS communicate,
      max(CASE q.name WHEN 'bucket_mb' THEN q.value END) AS bucket_mb,
      max(CASE q.name WHEN 'scheme' THEN q.value END) AS scheme,
      max(CASE q.name WHEN 'wrapped' THEN q.value END) AS wrapped,
      max(CASE q.name WHEN 'copy' THEN q.value END) AS copy,
      max(CASE q.name WHEN 'gradients' THEN q.value END) AS gradients,
      max(CASE q.name WHEN 'taper' THEN q.value END) AS taper,
      max(CASE q.name WHEN 'flat' THEN q.value END) AS flat,
      max(CASE q.name WHEN 'overlap' THEN q.value END) AS overlap
    FROM param q
    GROUP BY q.run_id
  ) p ON p.run_id = r.run_id
  WHERE r.workload LIKE 'ddp!_%' ESCAPE '!' OR r.workload = 'sharded_optimizer'
) t;
CREATE VIEW ddp_summary AS
SELECT
  -- run
  t.run_id,
  -- as in ddp_run
  t.strategy,
  -- as in ddp_run
  t.strategy_order,
  -- as in ddp_run
  t.bucket_mb,
  -- as in ddp_run
  t.taper,
  -- as in ddp_run
  t.setting,
  -- as in ddp_run
  t.comparison_group,
  -- median step; the slowest rank determines each step
  t.median_ms,
  -- mean step
  t.mean_ms,
  -- standard deviation
  t.std_ms,
  -- rank with the highest median step time
  t.slowest_rank,
  -- highest − lowest median step of a rank
  t.spread_ms,
  -- mean step of all ranks
  t.rank_step_ms,
  -- phase forward
  t.forward_ms,
  -- phase backward, including communication that overlaps with it
  t.backward_ms,
  -- phase communication: exposed communication after backward
  t.communication_ms,
  -- phase optimizer, including its communication
  t.optimizer_ms,
  -- share of the mean step of all ranks
  t.communication_ms / nullif(t.rank_step_ms, 0) AS communication_share,
  -- time per step during which communication kernels ran, mean over ranks; NULL without a GPU trace
  o.communication_ms AS traced_communication_ms,
  -- exposed communication: part of that time during which no other kernel ran
  o.exposed_ms,
  -- share of communication that overlaps with compute
  o.overlap_share,
  -- median step of ddp_naive over the median step of this run. Uses the newest ddp_naive run in the same comparison
  -- group, preferably of the same invocation; NULL if there is none
  1.0 * n.median_ms / nullif(t.median_ms, 0) AS speedup,
  -- number of trained parameter tensors, as reported by the workload
  t.parameter_tensors,
  -- size of their gradients
  t.gradient_bytes,
  -- tokens of all ranks over the median step; NULL if the workload does not report tokens
  t.ranks * t.tokens_per_step * 1e3 / nullif(t.median_ms, 0) AS tokens_per_s
FROM (
  SELECT
    d.*,
    p.median_ms,
    p.mean_ms,
    p.std_ms,
    w.slowest_rank,
    w.spread_ms,
    f.rank_step_ms,
    f.forward_ms,
    f.backward_ms,
    f.communication_ms,
    f.optimizer_ms,
    v.parameter_tensors,
    v.gradient_bytes,
    v.tokens_per_step,
    (
      SELECT e.run_id
      FROM (
        SELECT
          b.run_id,
          c.invocation_id = r.invocation_id AS same_invocation
        FROM ddp_run b
        JOIN run c ON c.run_id = b.run_id AND c.status = 'ok'
        WHERE b.workload = 'ddp_naive' AND b.communicate = 1 AND b.comparison_group = d.comparison_group
      ) e
      ORDER BY e.same_invocation DESC, e.run_id DESC
      LIMIT 1
    ) AS naive_run_id
  FROM ddp_run d
  JOIN run r ON r.run_id = d.run_id
  LEFT JOIN phase_time p ON p.run_id = d.run_id AND p.phase = 'step' AND p.status = 'ok'
  LEFT JOIN rank_spread w ON w.run_id = d.run_id AND r.status = 'ok'
  LEFT JOIN (
    SELECT
      run_id,
      avg(CASE phase WHEN 'step' THEN mean_ms END) AS rank_step_ms,
      avg(CASE phase WHEN 'forward' THEN mean_ms END) AS forward_ms,
      avg(CASE phase WHEN 'backward' THEN mean_ms END) AS backward_ms,
      avg(CASE phase WHEN 'communication' THEN mean_ms END) AS communication_ms,
      avg(CASE phase WHEN 'optimizer' THEN mean_ms END) AS optimizer_ms
    FROM rank_time
    GROUP BY run_id
  ) f ON f.run_id = d.run_id AND r.status = 'ok'
  LEFT JOIN (
    SELECT
      run_id,
      CAST(max(CASE name WHEN 'parameter_tensors' THEN value END) AS INTEGER) AS parameter_tensors,
      CAST(max(CASE name WHEN 'gradient_bytes' THEN value END) AS INTEGER) AS gradient_bytes,
      max(CASE name WHEN 'tokens_per_step' THEN value END) AS tokens_per_step
    FROM metric
    GROUP BY run_id
  ) v ON v.run_id = d.run_id
) t
LEFT JOIN phase_time n ON n.run_id = t.naive_run_id AND n.phase = 'step'
LEFT JOIN (
  SELECT
    run_id,
    avg(communication_ms) AS communication_ms,
    avg(exposed_ms) AS exposed_ms,
    sum(overlap_ms) / nullif(sum(communication_ms), 0) AS overlap_share
  FROM communication_overlap
  WHERE phase = 'step'
  GROUP BY run_id
) o ON o.run_id = t.run_id;
CREATE VIEW sharding_memory AS
WITH marker AS (
  SELECT t.*
  FROM (
    SELECT
      d.run_id,
      m.rank,
      m.pass,
      d.scheme,
      d.setting,
      d.comparison_group,
      r.invocation_id,
      r.device_kind,
      m.name,
      m.time_ns,
      m.step,
      row_number() OVER (
        PARTITION BY m.run_id, m.rank, m.name
        ORDER BY coalesce(s.warmup, 0), m.step, m.sequence
      ) AS position
    FROM ddp_run d
    JOIN run r ON r.run_id = d.run_id
    JOIN mark m
      ON m.run_id = d.run_id
      AND m.pass = 'memory'
      AND m.name IN ('model_ready', 'optimizer_ready', 'before_optimizer', 'after_optimizer')
    LEFT JOIN sample s
      ON s.run_id = m.run_id AND s.rank = m.rank AND s.pass = m.pass AND s.step = m.step AND s.phase = 'step'
    WHERE d.workload = 'sharded_optimizer'
  ) t
  WHERE t.position = 1
),
held AS (
  SELECT
    o.*,
    (
      SELECT p.sequence
      FROM memory_point p
      WHERE
        p.run_id = o.run_id
        AND p.rank = o.rank
        AND p.pass = o.pass
        AND p.device = o.device_kind
        AND p.time_ns <= o.time_ns
      ORDER BY p.sequence DESC
      LIMIT 1
    ) AS point
  FROM marker o
)
SELECT
  -- run
  h.run_id,
  -- rank
  h.rank,
  -- none, broadcast or zero1
  h.scheme,
  -- as in ddp_run
  h.setting,
  -- as in ddp_run
  h.comparison_group,
  -- model_ready, optimizer_ready, before_optimizer or after_optimizer
  h.name AS marker,
  -- sort order
  CASE h.name
    WHEN 'model_ready' THEN 0
    WHEN 'optimizer_ready' THEN 1
    WHEN 'before_optimizer' THEN 2
    ELSE 3
  END AS marker_order,
  -- step of the marker; −1 outside of steps
  h.step,
  -- bytes allocated; NULL if no point is known
  p.allocated_bytes,
  -- allocated bytes of live blocks of this category
  p.parameter_bytes,
  -- allocated bytes of live blocks of this category
  p.gradient_bytes,
  -- allocated bytes of live blocks of this category
  p.optimizer_state_bytes,
  -- allocated bytes of live blocks of this category
  p.activation_bytes,
  -- allocated bytes of all other categories
  p.workspace_bytes + p.input_bytes + p.unknown_bytes AS other_bytes,
  -- optimizer state size of this rank, as reported by the workload; NULL if not reported
  (
    SELECT max(v.value)
    FROM metric v
    WHERE v.run_id = h.run_id AND v.rank = h.rank AND v.name = 'optimizer_state_bytes'
  ) AS declared_state_bytes,
  -- optimizer state over that of the same rank and marker in the newest unsharded run in the same comparison group;
  -- NULL if there is none
  1.0 * p.optimizer_state_bytes
  / nullif(
    (
      SELECT w.optimizer_state_bytes
      FROM (
        SELECT
          u.run_id,
          y.optimizer_state_bytes,
          u.invocation_id = h.invocation_id AS same_invocation
        FROM held u
        JOIN memory_point y ON y.run_id = u.run_id AND y.rank = u.rank AND y.pass = u.pass AND y.sequence = u.point
        WHERE u.scheme = 'none' AND u.comparison_group = h.comparison_group AND u.rank = h.rank AND u.name = h.name
      ) w
      ORDER BY w.same_invocation DESC, w.run_id DESC
      LIMIT 1
    ),
    0
  ) AS state_share
FROM held h
LEFT JOIN memory_point p ON p.run_id = h.run_id AND p.rank = h.rank AND p.pass = h.pass AND p.sequence = h.point;
CREATE VIEW sharding_time AS
SELECT
  -- run
  d.run_id,
  -- none, broadcast or zero1
  d.scheme,
  -- sort order
  CASE d.scheme WHEN 'none' THEN 0 WHEN 'broadcast' THEN 1 ELSE 2 END AS scheme_order,
  -- as in ddp_run
  d.setting,
  -- mean step; the slowest rank determines each step
  x.mean_ms,
  -- standard deviation
  x.std_ms,
  -- phase optimizer, including its communication
  x.optimizer_ms,
  -- phase communication
  x.communication_ms,
  -- median step over that of the newest unsharded run in the same comparison group; NULL if there is none
  x.median_ms
  / (
    SELECT y.median_ms
    FROM ddp_summary y
    JOIN ddp_run n ON n.run_id = y.run_id AND n.scheme = 'none' AND n.communicate = d.communicate
    WHERE y.comparison_group = x.comparison_group AND y.median_ms > 0
    ORDER BY y.run_id DESC
    LIMIT 1
  ) AS unsharded_ratio,
  -- optimizer state of the rank with the most, as reported by the workload; NULL if not reported
  (SELECT max(v.value) FROM metric v WHERE v.run_id = d.run_id AND v.name = 'optimizer_state_bytes') AS state_bytes,
  -- peak allocated memory of any rank in the time pass; NULL on a CPU
  m.allocated_peak_bytes AS peak_bytes,
  -- collective calls per step, from the trace; NULL without a trace
  c.calls,
  -- bytes that a rank moves over its links per step, from the trace; NULL without a trace
  c.bus_bytes AS traffic_bytes
FROM ddp_run d
JOIN ddp_summary x ON x.run_id = d.run_id
LEFT JOIN run_memory m ON m.run_id = d.run_id
LEFT JOIN (
  SELECT
    run_id,
    sum(calls) AS calls,
    sum(bus_bytes) AS bus_bytes
  FROM collective_summary
  WHERE pass = 'trace'
  GROUP BY run_id
) c ON c.run_id = d.run_id
WHERE d.workload = 'sharded_optimizer';
CREATE VIEW kernel_pass AS
SELECT
  -- run
  k.run_id,
  -- rank
  k.rank,
  -- trace or ops
  k.pass
FROM rank k
WHERE
  (
    k.pass = 'trace'
    OR k.pass = 'ops'
    AND NOT EXISTS (SELECT 1 FROM kernel_total o WHERE o.run_id = k.run_id AND o.rank = k.rank AND o.pass = 'trace')
  )
  AND EXISTS (SELECT 1 FROM kernel_total t WHERE t.run_id = k.run_id AND t.rank = k.rank AND t.pass = k.pass);
CREATE VIEW kernel_entry AS
SELECT
  -- run
  t.run_id,
  -- rank that launched them
  t.rank,
  -- pass in which they ran
  t.pass,
  -- kernel, memcpy or memset
  t.kind,
  -- id of the phase in string; NULL if unknown or outside of phases
  t.phase_id,
  -- phase that launched them; `other` outside of phases
  coalesce((SELECT p.text FROM string p WHERE p.string_id = t.phase_id), 'other') AS phase,
  -- id of the scope path in string; NULL if unknown
  t.scope_id,
  -- scope path without the indices of repeated modules
  (SELECT q.module FROM scope_path q WHERE q.scope_id = t.scope_id) AS module,
  -- how they were attributed, as in kernel
  t.attribution,
  -- id of the name in string
  t.name_id,
  -- kernel class
  coalesce(
    (SELECT c.class FROM kernel_class c WHERE c.name_id = t.name_id),
    CASE t.kind WHEN 'memcpy' THEN 'copy' WHEN 'memset' THEN 'memset' ELSE 'other' END
  ) AS class,
  -- number of measured steps in the sums
  t.steps,
  -- number of executions
  t.calls,
  -- bytes copied or set; 0 for kernels
  t.bytes,
  -- sum of durations
  t.total_ns,
  -- shortest duration
  t.min_ns,
  -- longest duration
  t.max_ns
FROM kernel_pass k
CROSS JOIN kernel_total t ON t.run_id = k.run_id AND t.rank = k.rank AND t.pass = k.pass;
CREATE VIEW kernel_summary AS
SELECT
  -- run
  g.run_id,
  -- rank that launched it
  g.rank,
  -- pass in which it ran
  g.pass,
  -- phase that launched it; `step` is the whole step, `other` outside of phases
  CASE WHEN g.whole THEN 'step' ELSE coalesce(p.text, 'other') END AS phase,
  -- kernel class
  coalesce(c.class, CASE g.kind WHEN 'memcpy' THEN 'copy' WHEN 'memset' THEN 'memset' ELSE 'other' END) AS class,
  -- name without template arguments, parameters and namespaces
  coalesce(c.short_name, n.text) AS short_name,
  -- full name
  n.text AS name,
  -- number of measured steps
  g.steps,
  -- calls per step
  1.0 * g.calls / g.steps AS calls,
  -- time per step
  g.total_ns / 1e6 / g.steps AS total_ms,
  -- mean duration of a call
  g.total_ns / 1e3 / g.calls AS mean_us,
  -- shortest call
  g.min_ns / 1e3 AS min_us,
  -- longest call
  g.max_ns / 1e3 AS max_us,
  -- share of the device time of the phase
  1.0 * g.total_ns / nullif(g.phase_ns, 0) AS share_of_phase,
  -- share of the device time of the whole step
  1.0 * g.total_ns
  / nullif(sum(CASE WHEN g.whole THEN g.total_ns END) OVER (PARTITION BY g.run_id, g.rank), 0) AS share_of_step
FROM (
  SELECT
    *,
    sum(total_ns) OVER (PARTITION BY run_id, rank, whole, phase_id) AS phase_ns
  FROM (
    SELECT
      m.run_id,
      m.rank,
      m.pass,
      b.whole,
      CASE WHEN b.whole THEN NULL ELSE m.phase_id END AS phase_id,
      m.name_id,
      m.kind,
      m.steps,
      CASE WHEN b.whole THEN m.step_calls ELSE m.calls END AS calls,
      CASE WHEN b.whole THEN m.step_ns ELSE m.total_ns END AS total_ns,
      CASE WHEN b.whole THEN m.step_min_ns ELSE m.min_ns END AS min_ns,
      CASE WHEN b.whole THEN m.step_max_ns ELSE m.max_ns END AS max_ns
    FROM (
      SELECT
        *,
        sum(calls) OVER (PARTITION BY run_id, rank, name_id) AS step_calls,
        sum(total_ns) OVER (PARTITION BY run_id, rank, name_id) AS step_ns,
        min(min_ns) OVER (PARTITION BY run_id, rank, name_id) AS step_min_ns,
        max(max_ns) OVER (PARTITION BY run_id, rank, name_id) AS step_max_ns,
        coalesce(phase_id, 0) = min(coalesce(phase_id, 0)) OVER (PARTITION BY run_id, rank, name_id) AS is_first
      FROM (
        SELECT
          run_id,
          rank,
          pass,
          phase_id,
          name_id,
          max(kind) AS kind,
          max(steps) AS steps,
          sum(calls) AS calls,
          sum(total_ns) AS total_ns,
          min(min_ns) AS min_ns,
          max(max_ns) AS max_ns
        FROM kernel_entry
        GROUP BY run_id, rank, pass, phase_id, name_id
      )
    ) m
    JOIN (
      SELECT 0 AS whole
      UNION ALL
      SELECT 1
    ) b ON b.whole = 0 OR m.is_first
  )
) g
JOIN string n ON n.string_id = g.name_id
LEFT JOIN string p ON p.string_id = g.phase_id
LEFT JOIN kernel_class c ON c.name_id = g.name_id;
CREATE VIEW kernel_by_phase AS
SELECT
  -- run
  g.run_id,
  -- rank that launched them
  g.rank,
  -- pass in which they ran
  g.pass,
  -- phase; `step` is the whole step, `other` outside of phases
  CASE WHEN g.whole THEN 'step' ELSE coalesce(p.text, 'other') END AS phase,
  -- kernel class
  g.class,
  -- calls per step
  1.0 * g.calls / g.steps AS calls,
  -- time per step
  g.total_ns / 1e6 / g.steps AS total_ms,
  -- share of the device time of the phase
  1.0 * g.total_ns / nullif(g.phase_ns, 0) AS share_of_phase,
  -- share of the device time of the whole step
  1.0 * g.total_ns
  / nullif(sum(CASE WHEN g.whole THEN g.total_ns END) OVER (PARTITION BY g.run_id, g.rank), 0) AS share_of_step
FROM (
  SELECT
    *,
    sum(total_ns) OVER (PARTITION BY run_id, rank, whole, phase_id) AS phase_ns
  FROM (
    SELECT
      m.run_id,
      m.rank,
      m.pass,
      b.whole,
      CASE WHEN b.whole THEN NULL ELSE m.phase_id END AS phase_id,
      m.class,
      m.steps,
      CASE WHEN b.whole THEN m.step_calls ELSE m.calls END AS calls,
      CASE WHEN b.whole THEN m.step_ns ELSE m.total_ns END AS total_ns
    FROM (
      SELECT
        *,
        sum(calls) OVER (PARTITION BY run_id, rank, class) AS step_calls,
        sum(total_ns) OVER (PARTITION BY run_id, rank, class) AS step_ns,
        coalesce(phase_id, 0) = min(coalesce(phase_id, 0)) OVER (PARTITION BY run_id, rank, class) AS is_first
      FROM (
        SELECT
          run_id,
          rank,
          pass,
          phase_id,
          class,
          max(steps) AS steps,
          sum(calls) AS calls,
          sum(total_ns) AS total_ns
        FROM kernel_entry
        GROUP BY run_id, rank, pass, phase_id, class
      )
    ) m
    JOIN (
      SELECT 0 AS whole
      UNION ALL
      SELECT 1
    ) b ON b.whole = 0 OR m.is_first
  )
) g
LEFT JOIN string p ON p.string_id = g.phase_id;
CREATE VIEW kernel_by_scope AS
SELECT
  -- run
  g.run_id,
  -- rank that launched them
  g.rank,
  -- pass in which they ran
  g.pass,
  -- phase; `other` outside of phases
  g.phase,
  -- scope path without the indices of repeated modules; NULL if unknown
  g.module,
  -- kernel class
  g.class,
  -- calls per step
  1.0 * g.calls / g.steps AS calls,
  -- time per step
  g.total_ns / 1e6 / g.steps AS total_ms,
  -- share of the device time of the phase
  1.0 * g.total_ns / nullif(g.phase_ns, 0) AS share_of_phase,
  -- share of the device time of the whole step
  1.0 * g.total_ns / nullif(sum(g.total_ns) OVER (PARTITION BY g.run_id, g.rank), 0) AS share_of_step
FROM (
  SELECT
    *,
    sum(total_ns) OVER (PARTITION BY run_id, rank, phase) AS phase_ns
  FROM (
    SELECT
      run_id,
      rank,
      pass,
      phase,
      module,
      class,
      max(steps) AS steps,
      sum(calls) AS calls,
      sum(total_ns) AS total_ns
    FROM kernel_entry
    GROUP BY run_id, rank, pass, phase, module, class
  )
) g;
CREATE VIEW matmul_share AS
SELECT
  -- run
  c.run_id,
  -- rank
  c.rank,
  -- pass in which the kernels ran
  c.pass,
  -- phase; `step` is the whole step, `other` outside of phases
  c.phase,
  -- device time per step of all kernels, copies and memsets
  c.device_ms,
  -- device time per step of class matmul
  c.matmul_ms,
  -- share of the device time
  c.matmul_ms / nullif(c.device_ms, 0) AS matmul_share,
  -- other class with the most time; NULL if there is none
  CASE WHEN c.class <> 'matmul' THEN c.class END AS largest_other,
  -- its share of the device time
  CASE WHEN c.class <> 'matmul' THEN c.share_of_phase END AS largest_other_share
FROM (
  SELECT
    *,
    row_number() OVER (PARTITION BY run_id, rank, phase ORDER BY class = 'matmul', total_ms DESC, class) AS position
  FROM (
    SELECT
      *,
      sum(total_ms) OVER (PARTITION BY run_id, rank, phase) AS device_ms,
      sum(CASE class WHEN 'matmul' THEN total_ms ELSE 0.0 END) OVER (PARTITION BY run_id, rank, phase) AS matmul_ms
    FROM kernel_by_phase
  )
) c
WHERE c.position = 1;
CREATE VIEW attention_breakdown AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass in which the time was measured
  t.pass,
  -- device or host
  t.clock,
  -- scores (QKᵀ), softmax, or values (softmax weights times V)
  t.part,
  -- time per step, over all layers
  t.total_ms,
  -- share of the time of the three parts
  t.total_ms / nullif(sum(t.total_ms) OVER (PARTITION BY t.run_id, t.rank), 0) AS time_share,
  -- floating-point operations per step, as reported by the workload; NULL if not reported
  t.flops,
  -- share of the operations of the three parts
  t.flops / sum(t.flops) OVER (PARTITION BY t.run_id, t.rank) AS flops_share,
  -- operations per second
  t.flops / nullif(t.total_ms / 1e3, 0) AS flops_per_s
FROM (
  SELECT
    m.run_id,
    m.rank,
    m.pass,
    m.clock,
    m.part,
    m.total_ms,
    (
      SELECT x.value
      FROM metric x
      WHERE x.run_id = m.run_id AND x.rank = m.rank AND x.level = 'run' AND x.name = 'attention_' || m.part || '_flops'
      ORDER BY x.pass <> 'time', x.pass, x.sequence
      LIMIT 1
    ) AS flops
  FROM (
    SELECT
      e.run_id,
      e.rank,
      e.pass,
      'device' AS clock,
      p.part,
      sum(e.total_ns) / 1e6 / max(e.steps) AS total_ms
    FROM kernel_entry e
    JOIN (
      SELECT
        q.scope_id,
        w.part
      FROM scope_path q
      JOIN (
        SELECT 'scores' AS part
        UNION ALL
        SELECT 'softmax'
        UNION ALL
        SELECT 'values'
      ) w ON q.module = w.part OR '/' || q.module LIKE '%/attention/' || w.part
    ) p ON p.scope_id = e.scope_id
    WHERE e.phase_id = (SELECT f.string_id FROM string f WHERE f.text = 'forward')
    GROUP BY e.run_id, e.rank, e.pass, p.part
    UNION ALL
    SELECT
      h.run_id,
      h.rank,
      h.pass,
      'host',
      p.part,
      sum(h.total_ms)
    FROM cpu_scope_time h
    JOIN (
      SELECT 'scores' AS part
      UNION ALL
      SELECT 'softmax'
      UNION ALL
      SELECT 'values'
    ) p ON h.module = p.part OR '/' || h.module LIKE '%/attention/' || p.part
    WHERE h.phase = 'forward'
    GROUP BY h.run_id, h.rank, h.pass, p.part
  ) m
) t;
CREATE VIEW class_coverage AS
SELECT
  -- run
  e.run_id,
  -- rank
  e.rank,
  -- pass in which the kernels ran
  e.pass,
  -- device time per step
  sum(e.total_ns) / 1e6 / max(e.steps) AS device_ms,
  -- device time per step of class other
  sum(CASE e.class WHEN 'other' THEN e.total_ns ELSE 0 END) / 1e6 / max(e.steps) AS other_ms,
  -- its share of the device time
  1.0 * sum(CASE e.class WHEN 'other' THEN e.total_ns ELSE 0 END) / nullif(sum(e.total_ns), 0) AS other_share,
  -- number of distinct names in class other
  count(DISTINCT CASE e.class WHEN 'other' THEN e.name_id END) AS other_names
FROM kernel_entry e
GROUP BY e.run_id, e.rank, e.pass;
CREATE VIEW oom AS
SELECT
  -- run
  r.run_id,
  -- invocation
  r.invocation_id,
  -- workload
  r.workload,
  -- name of the case within the suite
  r.suite_case,
  -- rank that requested the memory; −1 if it cannot be attributed to one rank, NULL if unknown
  o.rank,
  -- pass in which it occurred
  o.pass,
  -- host or device
  o.location,
  -- requested size; NULL if unknown
  o.requested_bytes,
  -- free memory at that time; NULL if unknown
  o.free_bytes,
  -- peak memory in use before; NULL if unknown
  o.peak_bytes,
  -- phase or stage in which the run failed, or empty
  r.failed_phase,
  -- step in which the run failed; NULL outside a step
  r.failed_step,
  -- error message of the failing rank
  r.detail
FROM run r
LEFT JOIN out_of_memory o ON o.run_id = r.run_id
WHERE r.status = 'oom' OR o.run_id IS NOT NULL;
CREATE VIEW worker_memory AS
SELECT
  -- run
  k.run_id,
  -- rank
  k.rank,
  -- pass
  k.pass,
  -- peak resident set size of the process; NULL if not measured
  k.resident_peak_bytes,
  -- peak memory allocated by the caching allocator; NULL without one
  k.allocated_peak_bytes,
  -- peak memory reserved by the caching allocator; NULL without one
  k.reserved_peak_bytes,
  -- model name of its device; NULL if the worker did not get that far
  d.name AS device_name,
  -- total memory of that device
  d.memory_bytes AS device_memory_bytes,
  -- allocated peak over reserved peak
  1.0 * k.allocated_peak_bytes / k.reserved_peak_bytes AS allocated_share
FROM rank k
LEFT JOIN device d ON d.device_id = k.device_id;
CREATE VIEW memory_timeline AS
SELECT
  -- run
  m.run_id,
  -- rank
  m.rank,
  -- pass in which it was recorded
  m.pass,
  -- cuda or cpu
  m.device,
  -- position among the memory events
  m.sequence,
  -- host clock, relative to the start of the run
  m.time_ns / 1e6 AS time_ms,
  -- step; −1 outside of steps
  m.step,
  -- phase; `other` outside of phases, `outside` outside of steps
  CASE WHEN p.text IS NOT NULL THEN p.text WHEN m.step < 0 THEN 'outside' ELSE 'other' END AS phase,
  -- bytes requested by live blocks
  m.requested_bytes,
  -- bytes allocated
  m.allocated_bytes,
  -- bytes allocated, or freed but still in use by a stream
  m.active_bytes,
  -- bytes reserved from the driver
  m.reserved_bytes,
  -- allocated bytes of live blocks of this category
  m.parameter_bytes,
  -- allocated bytes of live blocks of this category
  m.gradient_bytes,
  -- allocated bytes of live blocks of this category
  m.optimizer_state_bytes,
  -- allocated bytes of live blocks of this category
  m.activation_bytes,
  -- allocated bytes of live blocks of this category
  m.workspace_bytes,
  -- allocated bytes of live blocks of this category
  m.input_bytes,
  -- allocated bytes of live blocks of this category
  m.unknown_bytes
FROM memory_point m
LEFT JOIN string p ON p.string_id = m.phase_id;
CREATE VIEW memory_peak AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass in which it was recorded
  t.pass,
  -- cuda or cpu
  t.device,
  -- phase or one of the names above; `other` is the time of a step outside of phases
  t.phase,
  -- maximum of the counter
  t.peak_requested_bytes,
  -- maximum of the counter
  t.peak_allocated_bytes,
  -- maximum of the counter
  t.peak_active_bytes,
  -- maximum of the counter
  t.peak_reserved_bytes,
  -- step of the allocated peak, the first one if tied
  t.step AS peak_step,
  -- time of the allocated peak, host clock, relative to the start of the run
  t.peak_ns,
  -- allocated bytes of live blocks of this category at the allocated peak
  t.parameter_bytes,
  -- allocated bytes of live blocks of this category at the allocated peak
  t.gradient_bytes,
  -- allocated bytes of live blocks of this category at the allocated peak
  t.optimizer_state_bytes,
  -- allocated bytes of live blocks of this category at the allocated peak
  t.activation_bytes,
  -- allocated bytes of live blocks of this category at the allocated peak
  t.workspace_bytes,
  -- allocated bytes of live blocks of this category at the allocated peak
  t.input_bytes,
  -- allocated bytes of live blocks of this category at the allocated peak
  t.unknown_bytes,
  -- largest category; NULL if nothing was allocated
  CASE max(
    t.parameter_bytes,
    t.gradient_bytes,
    t.optimizer_state_bytes,
    t.activation_bytes,
    t.workspace_bytes,
    t.input_bytes,
    t.unknown_bytes
  )
    WHEN 0 THEN NULL
    WHEN t.parameter_bytes THEN 'parameter'
    WHEN t.gradient_bytes THEN 'gradient'
    WHEN t.optimizer_state_bytes THEN 'optimizer_state'
    WHEN t.activation_bytes THEN 'activation'
    WHEN t.workspace_bytes THEN 'workspace'
    WHEN t.input_bytes THEN 'input'
    ELSE 'unknown'
  END AS largest_category
FROM (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY run_id, rank, pass, device, phase
      ORDER BY allocated_bytes DESC, step, peak_ns
    ) AS position
  FROM (
    SELECT
      *,
      max(requested_bytes) OVER (PARTITION BY run_id, rank, pass, device, phase) AS peak_requested_bytes,
      max(allocated_bytes) OVER (PARTITION BY run_id, rank, pass, device, phase) AS peak_allocated_bytes,
      max(active_bytes) OVER (PARTITION BY run_id, rank, pass, device, phase) AS peak_active_bytes,
      max(reserved_bytes) OVER (PARTITION BY run_id, rank, pass, device, phase) AS peak_reserved_bytes
    FROM (
      SELECT
        m.run_id,
        m.rank,
        m.pass,
        m.device,
        m.step,
        m.peak_ns,
        m.peak_requested_bytes AS requested_bytes,
        m.peak_allocated_bytes AS allocated_bytes,
        m.peak_active_bytes AS active_bytes,
        m.peak_reserved_bytes AS reserved_bytes,
        m.parameter_bytes,
        m.gradient_bytes,
        m.optimizer_state_bytes,
        m.activation_bytes,
        m.workspace_bytes,
        m.input_bytes,
        m.unknown_bytes,
        CASE
          WHEN b.whole = 1 THEN 'run'
          WHEN m.step < 0 THEN 'outside'
          WHEN m.warmup = 1 THEN 'warm-up'
          ELSE m.phase
        END AS phase
      FROM memory_phase m
      CROSS JOIN (
        SELECT 0 AS whole
        UNION ALL
        SELECT 1
      ) b
    )
  )
) t
WHERE t.position = 1;
CREATE VIEW memory_by_category AS
SELECT
  -- run
  p.run_id,
  -- rank
  p.rank,
  -- pass in which it was recorded
  p.pass,
  -- cuda or cpu
  p.device,
  -- as in memory_peak
  p.phase,
  -- parameter, gradient, optimizer_state, activation, workspace, input or unknown
  c.category,
  -- allocated sizes of its live blocks
  CASE c.category_order
    WHEN 0 THEN p.parameter_bytes
    WHEN 1 THEN p.gradient_bytes
    WHEN 2 THEN p.optimizer_state_bytes
    WHEN 3 THEN p.activation_bytes
    WHEN 4 THEN p.workspace_bytes
    WHEN 5 THEN p.input_bytes
    ELSE p.unknown_bytes
  END AS bytes,
  -- share of the peak
  1.0
  * CASE c.category_order
    WHEN 0 THEN p.parameter_bytes
    WHEN 1 THEN p.gradient_bytes
    WHEN 2 THEN p.optimizer_state_bytes
    WHEN 3 THEN p.activation_bytes
    WHEN 4 THEN p.workspace_bytes
    WHEN 5 THEN p.input_bytes
    ELSE p.unknown_bytes
  END
  / nullif(p.peak_allocated_bytes, 0) AS share,
  -- sort order: 0, 1, 2 ... for the categories above
  c.category_order
FROM memory_peak p
CROSS JOIN (
  SELECT
    0 AS category_order,
    'parameter' AS category
  UNION ALL
  SELECT
    1,
    'gradient'
  UNION ALL
  SELECT
    2,
    'optimizer_state'
  UNION ALL
  SELECT
    3,
    'activation'
  UNION ALL
  SELECT
    4,
    'workspace'
  UNION ALL
  SELECT
    5,
    'input'
  UNION ALL
  SELECT
    6,
    'unknown'
) c;
CREATE VIEW memory_block AS
SELECT
  -- run
  a.run_id,
  -- rank that issued it
  a.rank,
  -- pass in which it was recorded
  a.pass,
  -- cuda or cpu
  a.device,
  -- as in allocation
  a.sequence,
  -- requested size
  a.requested_bytes,
  -- size allocated for it, after rounding
  a.allocated_bytes,
  -- parameter, gradient, optimizer_state, activation, workspace, input or unknown
  a.category,
  -- step of the allocation; −1 outside of steps
  a.step,
  -- phase of the allocation; `other` outside of phases, `outside` outside of steps
  CASE WHEN p.text IS NOT NULL THEN p.text WHEN a.step < 0 THEN 'outside' ELSE 'other' END AS phase,
  -- scope path of the allocation without the indices of repeated modules; NULL if unknown
  q.module,
  -- scope path of the allocation; NULL if unknown
  s.text AS scope,
  -- innermost operator that requested it; NULL if there was none
  o.text AS operator,
  -- innermost stack frame in the workload's own code (not in LibTorch, CUDA, the C++ library or kymo): function, or
  -- library and offset; NULL if no stack was recorded or no such frame exists
  (
    SELECT coalesce(x.text, printf('%s+0x%x', f.module, f."offset"))
    FROM stack k
    JOIN stack_frame f ON f.run_id = k.run_id AND f.rank = k.rank AND f.pass = k.pass AND f.frame = k.frame
    LEFT JOIN string x ON x.string_id = f.function_id
    WHERE
      k.run_id = a.run_id
      AND k.rank = a.rank
      AND k.pass = a.pass
      AND k.stack = a.stack
      AND NOT (
        f.module LIKE 'libtorch%'
        OR f.module LIKE 'libc10%'
        OR f.module LIKE 'libc.%'
        OR f.module LIKE 'libstdc++%'
        OR f.module LIKE 'libcu%'
        OR f.module LIKE 'libgomp%'
        OR f.module LIKE 'libnccl%'
        OR f.module LIKE 'ld-%'
        OR f.module LIKE 'kymo_%'
        OR f.module IN ('kymo', '')
      )
      AND NOT (
        coalesce(x.text, '') LIKE 'at::%'
        OR coalesce(x.text, '') LIKE 'c10::%'
        OR coalesce(x.text, '') LIKE 'torch::%'
        OR coalesce(x.text, '') LIKE 'std::%'
        OR coalesce(x.text, '') LIKE '%kymo::libtorch::%'
      )
    ORDER BY k.depth
    LIMIT 1
  ) AS origin,
  -- time of the allocation, host clock, relative to the start of the run
  a.alloc_ns / 1e6 AS alloc_ms,
  -- time from allocation to free; NULL if still allocated at the end of the pass
  (a.free_ns - a.alloc_ns) / 1e6 AS lifetime_ms,
  -- step in which it was freed; NULL if it was not
  a.free_step,
  -- phase in which it was freed; NULL if it was not
  CASE
    WHEN a.free_ns IS NULL THEN NULL
    WHEN y.text IS NOT NULL THEN y.text
    WHEN a.free_step < 0 THEN 'outside'
    ELSE 'other'
  END AS free_phase,
  -- 1 if it was live at the peak of the measured steps
  coalesce(a.alloc_ns <= h.peak_ns AND coalesce(a.free_ns > h.peak_ns, 1), 0) AS at_peak
FROM allocation a
LEFT JOIN string p ON p.string_id = a.phase_id
LEFT JOIN string y ON y.string_id = a.free_phase_id
LEFT JOIN string s ON s.string_id = a.scope_id
LEFT JOIN string o ON o.string_id = a.op_id
LEFT JOIN scope_path q ON q.scope_id = a.scope_id
LEFT JOIN memory_phase h
  ON h.run_id = a.run_id
  AND h.rank = a.rank
  AND h.pass = a.pass
  AND h.device = a.device
  AND h.phase = 'step'
  AND h.step = (
    SELECT m.step
    FROM memory_phase m
    WHERE
      m.run_id = a.run_id
      AND m.rank = a.rank
      AND m.pass = a.pass
      AND m.device = a.device
      AND m.phase = 'step'
      AND m.warmup = 0
      AND m.step >= 0
    ORDER BY m.peak_allocated_bytes DESC, m.step
    LIMIT 1
  );
CREATE VIEW allocator_vs_driver AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass in which it was recorded
  t.pass,
  -- peak of the bytes requested by live blocks
  t.requested_peak_bytes,
  -- peak of the bytes allocated
  t.allocated_peak_bytes,
  -- peak of the bytes allocated or still in use by a stream
  t.active_peak_bytes,
  -- peak of the bytes reserved from the driver
  t.reserved_peak_bytes,
  -- allocated peak − requested peak: rounding of block sizes
  t.allocated_peak_bytes - t.requested_peak_bytes AS rounding_bytes,
  -- reserved peak − allocated peak: fragmentation and cached blocks
  t.reserved_peak_bytes - t.allocated_peak_bytes AS unused_bytes,
  -- in use on the device before this process initialized CUDA, by the driver and other processes; NULL without a
  -- reading
  t.before_cuda_bytes,
  -- in use on the device after the context was created
  t.context_created_bytes,
  -- in use on the device after the workload was prepared
  t.prepared_bytes,
  -- in use on the device at the end of the pass
  t.end_bytes,
  -- highest reading, all processes together; NULL without readings
  t.driver_peak_bytes,
  -- highest reading for this process; NULL if the driver does not report it
  t.process_peak_bytes,
  -- size of the CUDA context
  t.context_created_bytes - t.before_cuda_bytes AS context_bytes,
  -- reserved by the allocator at the time of the highest reading
  t.reserved_then_bytes AS reserved_at_driver_peak_bytes,
  -- remainder: kernel code, memory that libraries (cuBLAS, cuDNN, NCCL) allocate themselves, and memory that other
  -- processes allocated since
  t.driver_peak_bytes - t.context_created_bytes - t.reserved_then_bytes AS other_bytes
FROM (
  SELECT
    p.run_id,
    p.rank,
    p.pass,
    p.peak_requested_bytes AS requested_peak_bytes,
    p.peak_allocated_bytes AS allocated_peak_bytes,
    p.peak_active_bytes AS active_peak_bytes,
    p.peak_reserved_bytes AS reserved_peak_bytes,
    d.before_cuda_bytes,
    d.context_created_bytes,
    d.prepared_bytes,
    d.end_bytes,
    d.driver_peak_bytes,
    d.process_peak_bytes,
    CASE
      WHEN d.driver_peak_bytes IS NOT NULL
        THEN
          coalesce(
            (
              SELECT m.reserved_bytes
              FROM memory_point m
              WHERE
                m.run_id = p.run_id
                AND m.rank = p.rank
                AND m.pass = p.pass
                AND m.device = 'cuda'
                AND m.time_ns <= (
                  SELECT v.time_ns
                  FROM device_memory v
                  WHERE v.run_id = p.run_id AND v.rank = p.rank AND v.pass = p.pass
                  ORDER BY v.used_bytes DESC, v.sequence DESC
                  LIMIT 1
                )
              ORDER BY m.sequence DESC
              LIMIT 1
            ),
            0
          )
    END AS reserved_then_bytes
  FROM memory_peak p
  LEFT JOIN (
    SELECT
      run_id,
      rank,
      pass,
      max(CASE stage WHEN 'before cuda' THEN used_bytes END) AS before_cuda_bytes,
      max(CASE stage WHEN 'context created' THEN used_bytes END) AS context_created_bytes,
      max(CASE stage WHEN 'prepared' THEN used_bytes END) AS prepared_bytes,
      max(CASE stage WHEN 'end' THEN used_bytes END) AS end_bytes,
      max(used_bytes) AS driver_peak_bytes,
      max(process_bytes) AS process_peak_bytes
    FROM device_memory
    GROUP BY run_id, rank, pass
  ) d ON d.run_id = p.run_id AND d.rank = p.rank AND d.pass = p.pass
  WHERE p.device = 'cuda' AND p.phase = 'run'
) t;
CREATE VIEW op_summary AS
SELECT
  -- run
  g.run_id,
  -- rank that called it
  g.rank,
  -- pass in which it was recorded
  g.pass,
  -- phase of the call; `step` is the whole step, `other` outside of phases
  g.phase,
  -- operator name such as aten::mm
  n.text AS name,
  -- 1 for a node of the backward pass
  g.backward,
  -- calls per step
  1.0 * g.calls / g.steps AS calls,
  -- host time including called operators
  g.host_ns / 1e6 / g.steps AS host_ms,
  -- host time excluding called operators
  g.self_host_ns / 1e6 / g.steps AS self_ms,
  -- share of the self time of all operators in the phase
  1.0 * g.self_host_ns
  / nullif(sum(g.self_host_ns) OVER (PARTITION BY g.run_id, g.rank, g.pass, g.phase), 0) AS self_share,
  -- kernels, copies and memsets launched directly by the operator
  1.0 * g.kernels / g.steps AS kernels,
  -- sum of durations
  g.device_ns / 1e6 / g.steps AS device_ms
FROM (
  SELECT
    t.run_id,
    t.rank,
    t.pass,
    coalesce(p.text, 'other') AS phase,
    t.name_id,
    t.backward,
    max(t.steps) AS steps,
    sum(t.calls) AS calls,
    sum(t.host_ns) AS host_ns,
    sum(t.self_host_ns) AS self_host_ns,
    sum(t.kernels) AS kernels,
    sum(t.device_ns) AS device_ns
  FROM op_total t
  LEFT JOIN string p ON p.string_id = t.phase_id
  GROUP BY t.run_id, t.rank, t.pass, t.phase_id, t.name_id, t.backward
  UNION ALL
  SELECT
    run_id,
    rank,
    pass,
    'step',
    name_id,
    backward,
    max(steps),
    sum(calls),
    sum(host_ns),
    sum(self_host_ns),
    sum(kernels),
    sum(device_ns)
  FROM op_total
  GROUP BY run_id, rank, pass, name_id, backward
) g
JOIN string n ON n.string_id = g.name_id;
CREATE VIEW cpu_scope_time AS
WITH chosen AS (
  SELECT
    k.run_id,
    k.rank,
    k.pass,
    (
      SELECT min(s.step)
      FROM sample s
      WHERE s.run_id = k.run_id AND s.rank = k.rank AND s.pass = k.pass AND s.phase = 'step' AND s.warmup = 0
    ) AS first_step
  FROM run r
  JOIN rank k ON k.run_id = r.run_id
  WHERE
    r.device_kind = 'cpu'
    AND k.pass IN ('trace', 'ops', 'memory')
    AND EXISTS (SELECT 1 FROM "range" g WHERE g.run_id = k.run_id AND g.rank = k.rank AND g.pass = k.pass)
    AND NOT EXISTS (
      SELECT 1
      FROM "range" g
      WHERE g.run_id = k.run_id AND g.rank = k.rank AND g.pass = 'trace' AND k.pass <> 'trace'
    )
    AND NOT EXISTS (
      SELECT 1
      FROM "range" g
      WHERE g.run_id = k.run_id AND g.rank = k.rank AND g.pass = 'ops' AND k.pass = 'memory'
    )
),
observed AS (
  SELECT
    c.*,
    (
      SELECT count(DISTINCT g.step)
      FROM "range" g
      WHERE g.run_id = c.run_id AND g.rank = c.rank AND g.pass = c.pass AND g.step >= c.first_step
    ) AS steps
  FROM chosen c
),
instance AS (
  SELECT
    c.run_id,
    c.rank,
    c.pass,
    c.steps,
    g.sequence,
    g.parent,
    g.phase_id,
    g.scope_id,
    g.end_ns - g.start_ns AS duration_ns
  FROM observed c
  CROSS JOIN "range" g ON g.run_id = c.run_id AND g.rank = c.rank AND g.pass = c.pass
  WHERE g.kind = 'scope' AND g.step >= c.first_step
),
inner_scopes AS (
  SELECT
    run_id,
    rank,
    pass,
    parent,
    sum(duration_ns) AS duration_ns
  FROM instance
  WHERE parent IS NOT NULL
  GROUP BY run_id, rank, pass, parent
)
SELECT
  -- run
  i.run_id,
  -- rank
  i.rank,
  -- pass in which it was recorded
  i.pass,
  -- phase; `other` outside of phases
  coalesce(p.text, 'other') AS phase,
  -- scope path without the indices of repeated modules
  q.module,
  -- number of scopes in the path
  max(q.depth) AS depth,
  -- calls per step
  1.0 * count(*) / max(i.steps) AS calls,
  -- time per step including nested scopes
  sum(i.duration_ns) / 1e6 / max(i.steps) AS total_ms,
  -- host time excluding called operators
  (sum(i.duration_ns) - sum(coalesce(n.duration_ns, 0))) / 1e6 / max(i.steps) AS self_ms
FROM instance i
JOIN scope_path q ON q.scope_id = i.scope_id
LEFT JOIN string p ON p.string_id = i.phase_id
LEFT JOIN inner_scopes n ON n.run_id = i.run_id AND n.rank = i.rank AND n.pass = i.pass AND n.parent = i.sequence
GROUP BY i.run_id, i.rank, i.pass, i.phase_id, q.module;
CREATE VIEW verification_result AS
SELECT
  -- run
  v.run_id,
  -- workload
  r.workload,
  -- name of the case within the suite
  r.suite_case,
  -- rank that compared
  v.rank,
  -- name of the compared value
  v.name,
  -- passed, failed or unavailable
  v.outcome,
  -- largest absolute difference; NULL if unknown
  v.max_abs_error,
  -- largest relative difference; NULL if unknown
  v.max_rel_error,
  -- tolerance; NULL if the workload did not report one
  v.tolerance,
  -- description of the reference
  v.reference,
  -- reason for a failed or unavailable verification
  v.detail
FROM verification v
JOIN run r ON r.run_id = v.run_id;
CREATE VIEW device_clock AS
SELECT
  -- run
  r.run_id,
  -- workload
  r.workload,
  -- name of the case within the suite
  r.suite_case,
  -- number of readings
  c.readings,
  -- median SM clock
  (
    SELECT m.reading
    FROM (
      SELECT
        g.sm_clock_mhz AS reading,
        row_number() OVER (ORDER BY g.sm_clock_mhz) AS position
      FROM gpu_sample g
      WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.sm_clock_mhz IS NOT NULL
    ) m
    WHERE m.position = (c.sm_clocks + 1) / 2
  ) AS sm_clock_mhz,
  -- minimum SM clock
  c.min_sm_clock_mhz,
  -- maximum SM clock
  c.max_sm_clock_mhz,
  -- median memory clock
  (
    SELECT m.reading
    FROM (
      SELECT
        g.memory_clock_mhz AS reading,
        row_number() OVER (ORDER BY g.memory_clock_mhz) AS position
      FROM gpu_sample g
      WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.memory_clock_mhz IS NOT NULL
    ) m
    WHERE m.position = (c.memory_clocks + 1) / 2
  ) AS memory_clock_mhz,
  -- median power draw of one GPU
  (
    SELECT m.reading
    FROM (
      SELECT
        g.power_mw / 1e3 AS reading,
        row_number() OVER (ORDER BY g.power_mw) AS position
      FROM gpu_sample g
      WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.power_mw IS NOT NULL
    ) m
    WHERE m.position = (c.powers + 1) / 2
  ) AS power_w,
  -- median GPU temperature
  (
    SELECT m.reading
    FROM (
      SELECT
        g.temperature_c AS reading,
        row_number() OVER (ORDER BY g.temperature_c) AS position
      FROM gpu_sample g
      WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.temperature_c IS NOT NULL
    ) m
    WHERE m.position = (c.temperatures + 1) / 2
  ) AS temperature_c,
  -- maximum GPU temperature
  c.max_temperature_c,
  -- readings with the software power cap active; such samples are kept
  c.power_capped,
  -- readings with thermal throttling
  c.thermal_slowdown,
  -- readings with hardware slowdown (including the power brake)
  c.hardware_slowdown
FROM run r
JOIN (
  SELECT
    s.run_id,
    count(*) AS readings,
    count(s.sm_clock_mhz) AS sm_clocks,
    count(s.memory_clock_mhz) AS memory_clocks,
    count(s.power_mw) AS powers,
    count(s.temperature_c) AS temperatures,
    min(s.sm_clock_mhz) AS min_sm_clock_mhz,
    max(s.sm_clock_mhz) AS max_sm_clock_mhz,
    max(s.temperature_c) AS max_temperature_c,
    sum((s.throttle_reasons & 4) <> 0) AS power_capped,
    sum((s.throttle_reasons & 96) <> 0) AS thermal_slowdown,
    sum((s.throttle_reasons & 136) <> 0) AS hardware_slowdown
  FROM gpu_sample s
  JOIN run w ON w.run_id = s.run_id
  WHERE s.pass = 'time' AND s.step >= w.warmup
  GROUP BY s.run_id
) c ON c.run_id = r.run_id;
CREATE VIEW run_dropped_record AS
SELECT
  -- run
  l.run_id,
  -- workload
  r.workload,
  -- name of the case within the suite
  r.suite_case,
  -- rank the records belong to; NULL for the whole run
  l.rank,
  -- pass the records belong to, or empty
  l.pass,
  -- collector or component that dropped them
  l.source,
  -- number of dropped records; NULL if unknown
  l.count,
  -- what was dropped and why
  l.detail
FROM (
  SELECT
    run_id,
    nullif(rank, -1) AS rank,
    pass,
    source,
    nullif(count, -1) AS count,
    detail
  FROM dropped_record
) l
JOIN run r ON r.run_id = l.run_id;
CREATE VIEW trace_overhead AS
SELECT
  -- run
  o.run_id,
  -- workload
  r.workload,
  -- name of the case within the suite
  r.suite_case,
  -- rank it was measured on
  o.rank,
  -- the profiled pass
  o.pass,
  -- phase, or `step` for the whole step
  o.phase,
  -- measured steps of the profiled pass
  o.steps,
  -- median host time in the profiled pass
  o.observed_ns / 1e6 AS observed_ms,
  -- median host time in the time pass
  o.time_ns / 1e6 AS time_ms,
  -- observed_ms over time_ms
  o.ratio,
  -- description of the ratio; differences up to 2 % are within noise
  CASE
    WHEN o.ratio < 0.98 THEN 'no measurable overhead (profiled steps were faster)'
    WHEN o.ratio <= 1.02 THEN 'no measurable overhead'
    ELSE printf('%.*f %% slower', CASE WHEN o.ratio < 1.1 THEN 1 ELSE 0 END, 100 * (o.ratio - 1))
  END AS summary
FROM overhead o
JOIN run r ON r.run_id = o.run_id;
CREATE VIEW attribution_coverage AS
SELECT
  -- run
  g.run_id,
  -- rank
  g.rank,
  -- pass in which they ran
  g.pass,
  -- phase; `step` is the whole step, `other` work without a phase
  g.phase,
  -- device time per step
  g.total_ns / 1e6 / g.steps AS device_ms,
  -- share with a phase
  1.0 * g.phase_ns / nullif(g.total_ns, 0) AS phase_share,
  -- share with a scope
  1.0 * g.scope_ns / nullif(g.total_ns, 0) AS scope_share,
  -- share with the scope of the launching thread
  1.0 * g.launch_ns / nullif(g.total_ns, 0) AS launch_share,
  -- share with the forward scope of the backward node
  1.0 * g.autograd_ns / nullif(g.total_ns, 0) AS autograd_share,
  -- share attributed by a CUDA graph node
  1.0 * g.graph_ns / nullif(g.total_ns, 0) AS graph_share,
  -- share with a phase but no scope
  1.0 * g.phase_only_ns / nullif(g.total_ns, 0) AS phase_only_share,
  -- share without attribution
  1.0 * g.none_ns / nullif(g.total_ns, 0) AS unattributed_share
FROM (
  SELECT
    e.run_id,
    e.rank,
    e.pass,
    CASE WHEN b.whole THEN 'step' ELSE e.phase END AS phase,
    max(e.steps) AS steps,
    sum(e.total_ns) AS total_ns,
    sum(CASE WHEN e.phase_id IS NOT NULL THEN e.total_ns ELSE 0 END) AS phase_ns,
    sum(CASE WHEN e.scope_id IS NOT NULL THEN e.total_ns ELSE 0 END) AS scope_ns,
    sum(CASE e.attribution WHEN 'launch' THEN e.total_ns ELSE 0 END) AS launch_ns,
    sum(CASE e.attribution WHEN 'autograd' THEN e.total_ns ELSE 0 END) AS autograd_ns,
    sum(CASE e.attribution WHEN 'graph' THEN e.total_ns ELSE 0 END) AS graph_ns,
    sum(CASE e.attribution WHEN 'phase' THEN e.total_ns ELSE 0 END) AS phase_only_ns,
    sum(CASE e.attribution WHEN 'none' THEN e.total_ns ELSE 0 END) AS none_ns
  FROM kernel_entry e
  CROSS JOIN (
    SELECT 0 AS whole
    UNION ALL
    SELECT 1
  ) b
  GROUP BY e.run_id, e.rank, e.pass, b.whole, CASE WHEN b.whole THEN NULL ELSE e.phase_id END
) g;
CREATE VIEW run_status AS
SELECT
  -- run
  r.run_id,
  -- empty for a run with status ok, `OOM`, or the status
  CASE r.status WHEN 'ok' THEN '' WHEN 'oom' THEN 'OOM' ELSE r.status END AS status_label,
  -- status with its reason
  CASE WHEN r.status = 'ok' THEN 'ok' WHEN r.status = 'oom' THEN 'OOM' ELSE r.status END
  || CASE WHEN r.detail = '' THEN '' ELSE ': ' || r.detail END AS status_detail,
  -- result of the verification
  CASE r.verification WHEN 'passed' THEN 'passed' WHEN 'failed' THEN 'failed' ELSE 'not verified' END AS verified,
  -- empty if it was verified
  coalesce(
    (
      SELECT group_concat(DISTINCT v.detail)
      FROM verification v
      WHERE v.run_id = r.run_id AND v.outcome = 'unavailable' AND v.detail <> ''
    ),
    CASE r.verification WHEN 'unavailable' THEN 'no reference' WHEN '' THEN 'not requested' ELSE '' END
  ) AS unverified_reason
FROM run r;
CREATE VIEW run_title AS
WITH differs AS (
  SELECT
    workload,
    min(suite_case) <> max(suite_case) AS suite_case,
    min(ranks) <> max(ranks) AS ranks,
    min(device_kind) <> max(device_kind) AS device,
    min(warmup) <> max(warmup) AS warmup,
    min(sync) <> max(sync) AS sync,
    min(label) <> max(label) AS label,
    min(repetition) <> max(repetition) AS repetition
  FROM run
  GROUP BY workload
),
differs_within AS (
  SELECT
    workload,
    suite_case,
    min(timing) <> max(timing) AS timing,
    min(steps) <> max(steps) AS steps,
    min(seed) <> max(seed) AS seed
  FROM run
  GROUP BY workload, suite_case
),
varying AS (
  SELECT
    r.workload,
    p.name
  FROM param p
  JOIN run r ON r.run_id = p.run_id
  GROUP BY r.workload, p.name
  HAVING min(p.value) <> max(p.value)
)
SELECT
  -- run
  t.run_id,
  -- for example `n=1024, device=cuda`
  coalesce(nullif(substr(t.title, 3), ''), 'only case') AS title
FROM (
  SELECT
    r.run_id,
    CASE WHEN d.suite_case AND r.suite_case <> '' THEN ', case=' || r.suite_case ELSE '' END
    || coalesce(
      (
        SELECT group_concat(part, '')
        FROM (
          SELECT ', ' || p.name || '=' || p.text AS part
          FROM varying v
          JOIN run_parameter p ON p.run_id = r.run_id AND p.name = v.name
          WHERE v.workload = r.workload AND p.text <> ''
          ORDER BY p.name
        )
      ),
      ''
    )
    || CASE WHEN d.ranks THEN ', ranks=' || r.ranks ELSE '' END
    || CASE WHEN d.device THEN ', device=' || r.device_kind ELSE '' END
    || CASE WHEN d.warmup THEN ', warm-up=' || r.warmup ELSE '' END
    || CASE WHEN d.sync THEN ', sync=' || r.sync ELSE '' END
    || CASE WHEN w.timing THEN ', timing=' || r.timing ELSE '' END
    || CASE WHEN w.steps AND r.steps > 0 THEN ', steps=' || r.steps ELSE '' END
    || CASE WHEN w.seed THEN ', seed=' || r.seed ELSE '' END
    || CASE WHEN d.label AND r.label <> '' THEN ', label=' || r.label ELSE '' END
    || CASE WHEN d.repetition THEN ', repetition=' || (r.repetition + 1) ELSE '' END AS title
  FROM run r
  JOIN differs d ON d.workload = r.workload
  JOIN differs_within w ON w.workload = r.workload AND w.suite_case = r.suite_case
) t;
CREATE VIEW run_memory AS
SELECT
  -- run
  r.run_id,
  -- peak resident set size of a worker process
  max(k.resident_peak_bytes) AS resident_peak_bytes,
  -- peak memory allocated by the caching allocator
  max(k.allocated_peak_bytes) AS allocated_peak_bytes,
  -- peak memory reserved by the caching allocator
  max(k.reserved_peak_bytes) AS reserved_peak_bytes
FROM run r
JOIN rank k ON k.run_id = r.run_id AND k.pass = 'time'
GROUP BY r.run_id;
CREATE VIEW run_warning AS
SELECT
  -- run
  run_id,
  -- a status other than ok, `not verified`, `throttled`, `all throttled`, `unstable` (standard deviation > 25 % of the
  -- mean), `no kernel records` or `dropped records`
  status AS kind,
  -- details, in one line
  detail
FROM run
WHERE status <> 'ok'
UNION ALL
SELECT
  r.run_id,
  'not verified',
  s.unverified_reason
FROM run r
JOIN run_status s ON s.run_id = r.run_id
WHERE r.status = 'ok' AND r.verification NOT IN ('passed', 'failed')
UNION ALL
SELECT
  run_id,
  'throttled',
  max(excluded) || ' of ' || max(count + excluded) || ' step samples were throttled and excluded'
FROM statistic
WHERE phase = 'step' AND excluded > 0 AND all_throttled = 0
GROUP BY run_id
UNION ALL
SELECT
  run_id,
  'all throttled',
  'every step sample was throttled; none was excluded'
FROM statistic
WHERE phase = 'step' AND all_throttled = 1
GROUP BY run_id
UNION ALL
SELECT
  run_id,
  'unstable',
  'the standard deviation of the step time is ' || CAST(round(100 * std_ms / mean_ms) AS INTEGER)
  || ' % of its mean; the median is ' || printf('%.4g', median_ms) || ' ms'
FROM phase_time
WHERE phase = 'step' AND status = 'ok' AND std_ms > 0.25 * mean_ms
UNION ALL
SELECT
  run_id,
  'no kernel records',
  'the pass ' || pass || ' could not record kernels'
  || CASE max(rank) WHEN 0 THEN '' ELSE ' on ' || count(*) || ' ranks' END
FROM rank
WHERE trace_status = 'events only'
GROUP BY run_id, pass
UNION ALL
SELECT
  run_id,
  'dropped records',
  source || CASE WHEN pass = '' THEN '' ELSE ' (' || pass || ')' END || ': '
  || CASE WHEN count < 0 THEN 'unknown number' ELSE CAST(count AS TEXT) END
  || CASE WHEN detail = '' THEN '' ELSE ', ' || detail END
FROM dropped_record;
CREATE VIEW transformer_run AS
SELECT
  -- run
  p.run_id,
  -- model size name
  p.size,
  -- sort order of the sizes
  CASE p.size
    WHEN 'tiny' THEN 0
    WHEN 'small' THEN 1
    WHEN 'medium' THEN 2
    WHEN 'large' THEN 3
    WHEN 'xl' THEN 4
    WHEN '2.7B' THEN 5
    ELSE 6
  END AS size_order,
  -- tokens per sequence
  p.context,
  -- batch size
  p.batch,
  -- element type, with `autocast` if enabled
  p.dtype || CASE WHEN p.autocast = 1 THEN ' autocast' ELSE '' END AS precision,
  -- forward, forward_backward or train
  p.mode
FROM (
  SELECT
    r.run_id,
    max(CASE WHEN q.name = 'size' THEN q.value END) AS size,
    max(CASE WHEN q.name = 'context' THEN q.value END) AS context,
    max(CASE WHEN q.name = 'batch' THEN q.value END) AS batch,
    max(CASE WHEN q.name = 'dtype' THEN q.value END) AS dtype,
    max(CASE WHEN q.name = 'autocast' THEN q.value END) AS autocast,
    max(CASE WHEN q.name = 'mode' THEN q.value END) AS mode
  FROM run r
  JOIN param q ON q.run_id = r.run_id
  WHERE r.workload = 'transformer_lm'
  GROUP BY r.run_id
) p;
CREATE VIEW run_order AS
SELECT
  -- run
  r.run_id,
  -- invocation
  r.invocation_id,
  -- suite name, or empty
  r.suite,
  -- its label, or empty
  r.label,
  -- runs with the same key are repetitions
  r.plan_key,
  -- equal for runs of the same suite case with the same measurement settings, whatever the build of the plugin
  r.settings_key,
  -- sort key: start time and id of the invocation
  i.started_at || printf(' %019d', i.invocation_id) AS start_order
FROM run r
JOIN invocation i ON i.invocation_id = r.invocation_id;
CREATE VIEW current_run AS
-- every column of run
SELECT r.*
FROM run r
JOIN (
  SELECT
    p.run_id,
    p.start_order,
    max(p.start_order) OVER (PARTITION BY p.plan_key) AS newest_of_plan,
    max(p.start_order) OVER (PARTITION BY p.settings_key) AS newest_of_settings
  FROM run_order p
) k ON k.run_id = r.run_id AND k.start_order = k.newest_of_plan AND k.start_order = k.newest_of_settings;
CREATE VIEW run_list AS
SELECT
  -- run
  r.run_id,
  -- invocation
  r.invocation_id,
  -- when it started, in UTC
  r.started_at,
  -- suite name, or empty
  r.suite,
  -- case name within the suite, or empty
  r.suite_case,
  -- its label, or empty
  r.label,
  -- workload
  r.workload,
  -- all parameters in one line, sorted by name
  coalesce(
    (
      SELECT group_concat(t.word, ' ')
      FROM (
        SELECT
          p.name || '='
          || CASE WHEN p.type <> 'bool' THEN p.value WHEN p.value THEN 'true' ELSE 'false' END AS word
        FROM param p
        WHERE p.run_id = r.run_id
        ORDER BY p.name
      ) t
    ),
    ''
  ) AS parameters,
  -- number of processes
  r.ranks,
  -- cpu or cuda
  r.device_kind,
  -- model name of the first rank's device; NULL if the run did not get that far
  (
    SELECT d.name
    FROM rank k
    JOIN device d ON d.device_id = k.device_id
    WHERE k.run_id = r.run_id
    ORDER BY k.pass <> 'time', k.rank
    LIMIT 1
  ) AS device_name,
  -- index of the repetition (--repeat), from 0
  r.repetition,
  -- status
  r.status,
  -- reason if the status is not ok
  r.detail,
  -- passed, failed, not verified or not asked
  CASE r.verification
    WHEN 'unavailable' THEN 'not verified'
    WHEN '' THEN 'not asked'
    ELSE r.verification
  END AS verification,
  -- clock of the times: device or host
  s.clock,
  -- number of step samples
  s.count,
  -- mean step time
  s.mean_ns / 1e6 AS step_mean_ms,
  -- standard deviation
  s.std_ns / 1e6 AS step_std_ms,
  -- its median
  s.median_ns / 1e6 AS step_median_ms,
  -- 1 if every sample was throttled
  s.all_throttled,
  -- number of entries in dropped_record
  (SELECT count(*) FROM dropped_record l WHERE l.run_id = r.run_id) AS dropped_records
FROM run r
LEFT JOIN statistic s
  ON s.run_id = r.run_id
  AND s.phase = 'step'
  AND s.clock = (SELECT min(c.clock) FROM statistic c WHERE c.run_id = r.run_id AND c.phase = 'step');
CREATE VIEW run_parameter AS
SELECT
  -- run
  p.run_id,
  -- parameter name
  p.name,
  -- int, real, bool or text
  p.type,
  -- value in its own type; bool as 0 or 1
  p.value,
  -- value as text
  CASE WHEN p.type <> 'bool' THEN CAST(p.value AS TEXT) WHEN p.value THEN 'true' ELSE 'false' END AS text
FROM param p;
CREATE VIEW failures AS
SELECT
  -- run
  r.run_id,
  -- invocation
  r.invocation_id,
  -- case name within the suite, or empty
  r.suite_case,
  -- workload
  r.workload,
  -- oom, failed, crashed, timeout or interrupted
  r.status,
  -- details, in one line
  r.detail,
  -- rank that failed first; NULL if it cannot be attributed to one rank
  r.failed_rank,
  -- pass in which it failed, or empty
  r.failed_pass,
  -- phase or stage in which it failed, or empty
  r.failed_phase,
  -- step in which it failed; NULL outside a step
  r.failed_step,
  -- exit code of that worker, if it exited
  r.exit_code,
  -- signal that terminated that worker
  r.signal,
  -- end of its standard error
  (
    SELECT substr(k.stderr, -1000)
    FROM rank k
    WHERE k.run_id = r.run_id AND k.rank = r.failed_rank AND k.pass = r.failed_pass
  ) AS stderr_tail
FROM run r
WHERE r.status NOT IN ('ok', 'running', 'skipped');
CREATE VIEW environment_fact AS
SELECT
  -- invocation
  e.invocation_id,
  -- when it started, in UTC
  i.started_at,
  -- property name
  e.name,
  -- value
  e.value
FROM environment e
JOIN invocation i ON i.invocation_id = e.invocation_id;
CREATE VIEW worker_stage AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass
  t.pass,
  -- sort order of the stages, from 0
  t.stage_order,
  -- stage name
  t.stage,
  -- start, relative to the start of the process or, for a reused worker, the assignment
  t.start_ns / 1e6 AS start_ms,
  -- duration
  (t.end_ns - t.start_ns) / 1e6 AS duration_ms
FROM (
  SELECT
    run_id,
    rank,
    pass,
    row_number() OVER (PARTITION BY run_id, rank, pass ORDER BY end_ns, sequence) - 1 AS stage_order,
    stage,
    lag(end_ns, 1, 0) OVER (PARTITION BY run_id, rank, pass ORDER BY end_ns, sequence) AS start_ns,
    end_ns
  FROM (
    SELECT
      run_id,
      rank,
      pass,
      min(sequence) AS sequence,
      substr(name, 9) AS stage,
      min(time_ns) AS end_ns
    FROM mark
    WHERE
      name IN (
        'worker: assigned', 'worker: plugin loaded', 'worker: collectors armed', 'worker: created', 'worker: prepared'
      )
    GROUP BY run_id, rank, pass, name
    UNION ALL
    SELECT
      s.run_id,
      s.rank,
      s.pass,
      9223372036854775807,
      'first step',
      s.start_ns
    FROM sample s
    WHERE
      s.phase = 'step'
      AND s.step = 0
      AND EXISTS (
        SELECT 1
        FROM mark m
        WHERE m.run_id = s.run_id AND m.rank = s.rank AND m.pass = s.pass AND m.name = 'worker: prepared'
      )
  )
) t;
CREATE VIEW first_step_content AS
WITH early AS (
  SELECT
    s.run_id,
    s.step,
    s.host_ns,
    count(*) OVER (PARTITION BY s.run_id) AS steps
  FROM run r
  JOIN step_duration s ON s.run_id = r.run_id AND s.phase = 'step'
  WHERE r.warmup = 0
),
late AS (
  SELECT
    run_id,
    host_ns,
    row_number() OVER (PARTITION BY run_id ORDER BY host_ns) AS position,
    count(*) OVER (PARTITION BY run_id) AS steps
  FROM early
  WHERE 2 * step >= steps
),
later AS (
  SELECT
    run_id,
    avg(host_ns) AS median_ns
  FROM late
  WHERE position IN ((steps + 1) / 2, (steps + 2) / 2)
  GROUP BY run_id
),
growth AS (
  SELECT
    run_id,
    step,
    max(requests) AS requests,
    max(reserved_bytes) AS reserved_bytes
  FROM (
    SELECT
      run_id,
      rank,
      step,
      device_allocations - lag(device_allocations) OVER (PARTITION BY run_id, rank ORDER BY step) AS requests,
      reserved_bytes - lag(reserved_bytes) OVER (PARTITION BY run_id, rank ORDER BY step) AS reserved_bytes
    FROM memory_counter
    WHERE pass = 'time'
  )
  GROUP BY run_id, step
),
clock AS (
  SELECT
    run_id,
    step,
    min(sm_clock_mhz) AS mhz
  FROM gpu_sample
  WHERE pass = 'time'
  GROUP BY run_id, step
),
stage AS (
  SELECT
    run_id,
    max(CASE stage WHEN 'plugin loaded' THEN duration_ms END) AS load_ms,
    max(CASE stage WHEN 'collectors armed' THEN duration_ms END) AS arm_ms,
    max(CASE stage WHEN 'created' THEN duration_ms END) AS create_ms,
    max(CASE stage WHEN 'prepared' THEN duration_ms END) AS prepare_ms
  FROM worker_stage
  WHERE pass = 'time'
  GROUP BY run_id
)
SELECT
  -- run
  t.run_id,
  -- 0 to 4
  t.step,
  -- time of the step
  t.host_ms,
  -- median of the second half of the run's steps; NULL for a run with one step
  t.later_median_ms,
  -- time above the median
  t.host_ms - t.later_median_ms AS excess_ms,
  -- allocations that the allocator requested from the driver in or directly before the step (a count, not a time); NULL
  -- without a reading
  t.device_allocations,
  -- growth of the reserved memory in the step; NULL without a reading
  t.reserved_growth_bytes,
  -- lowest SM clock of any rank directly after the step; NULL without a reading
  t.sm_clock_mhz,
  -- median SM clock of the run; NULL without readings
  t.median_sm_clock_mhz,
  -- upper bound on the effect of a lower SM clock, assuming that the step time scales with the clock; NULL without a
  -- reading
  t.clock_effect_ms,
  -- excess without a recorded cause: includes driver allocations, and the first use of kernels and libraries (loading,
  -- handles, algorithm selection)
  t.host_ms - t.later_median_ms - coalesce(t.clock_effect_ms, 0) AS unexplained_ms,
  -- stage before step 0: load the plugin and its libraries; NULL for other steps
  t.load_ms,
  -- stage before step 0: arm the collectors, on a GPU including CUDA context creation; NULL for other steps
  t.arm_ms,
  -- stage before step 0: create the workload; NULL for other steps
  t.create_ms,
  -- stage before step 0: prepare the workload; NULL for other steps
  t.prepare_ms
FROM (
  SELECT
    e.run_id,
    e.step,
    e.host_ns / 1e6 AS host_ms,
    l.median_ns / 1e6 AS later_median_ms,
    g.requests AS device_allocations,
    g.reserved_bytes AS reserved_growth_bytes,
    c.mhz AS sm_clock_mhz,
    d.sm_clock_mhz AS median_sm_clock_mhz,
    l.median_ns / 1e6 * (max(1.0 * d.sm_clock_mhz / nullif(c.mhz, 0), 1) - 1) AS clock_effect_ms,
    CASE e.step WHEN 0 THEN a.load_ms END AS load_ms,
    CASE e.step WHEN 0 THEN a.arm_ms END AS arm_ms,
    CASE e.step WHEN 0 THEN a.create_ms END AS create_ms,
    CASE e.step WHEN 0 THEN a.prepare_ms END AS prepare_ms
  FROM early e
  LEFT JOIN later l ON l.run_id = e.run_id
  LEFT JOIN growth g ON g.run_id = e.run_id AND g.step = e.step
  LEFT JOIN clock c ON c.run_id = e.run_id AND c.step = e.step
  LEFT JOIN device_clock d ON d.run_id = e.run_id
  LEFT JOIN stage a ON a.run_id = e.run_id
  WHERE e.step < 5
) t;
CREATE VIEW timeline_bar AS
SELECT
  -- run
  g.run_id,
  -- rank on which it was recorded
  g.rank,
  -- pass in which it occurred
  g.pass,
  -- step; −1 outside of steps
  g.step,
  -- host or GPU
  'host' AS side,
  -- sort order of the lanes
  0 AS lane_order,
  -- thread, stream, `phases`, `copies` or `collectives`
  'thread ' || g.thread AS lane,
  -- start, host clock, relative to the start of the run
  g.start_ns,
  -- end; NULL if the event did not end
  g.end_ns,
  -- name
  coalesce(n.text, '') AS label,
  -- phase, scope, operator, copy, memset, communication, or the kernel class
  coalesce(g.kind, '') AS class,
  -- details, or empty
  coalesce(q.text, '') AS detail
FROM "range" g
JOIN string n ON n.string_id = g.name_id
LEFT JOIN string q ON q.string_id = g.scope_id
UNION ALL
SELECT
  o.run_id,
  o.rank,
  o.pass,
  o.step,
  'host',
  0,
  'thread ' || o.thread,
  o.start_ns,
  o.end_ns,
  coalesce(n.text, ''),
  'operator',
  coalesce(h.text || ' ', '') || coalesce('in ' || q.text, '')
FROM op o
JOIN string n ON n.string_id = o.name_id
LEFT JOIN string h ON h.string_id = o.shapes_id
LEFT JOIN string q ON q.string_id = o.scope_id
UNION ALL
SELECT
  c.run_id,
  c.rank,
  c.pass,
  c.step,
  'host',
  1,
  'collectives',
  c.start_ns,
  c.end_ns,
  coalesce(c.operation, ''),
  'communication',
  c.bytes || ' bytes, call ' || c.call_number || ' of ' || n.text
FROM collective c
JOIN string n ON n.string_id = c.communicator_id
WHERE c.on_device = 0
UNION ALL
SELECT
  a.run_id,
  a.rank,
  a.pass,
  a.step,
  'GPU',
  2,
  'phases',
  a.start_ns,
  a.end_ns,
  coalesce(a.phase, ''),
  'phase',
  printf('idle %.1f %%, %d gaps', 100.0 * a.idle_ns / nullif(a.end_ns - a.start_ns, 0), a.gaps)
FROM step_activity a
WHERE a.phase NOT IN ('step', 'other')
UNION ALL
SELECT
  k.run_id,
  k.rank,
  k.pass,
  k.step,
  'GPU',
  3,
  'stream ' || k.stream,
  k.start_ns,
  k.end_ns,
  coalesce(c.short_name, n.text),
  coalesce(c.class, 'other'),
  n.text || coalesce(', in ' || q.text, '') || coalesce(' (' || p.text || ')', '')
  || CASE
    WHEN l.launch_config IS NULL THEN ''
    ELSE
      printf(
        ', grid %d×%d×%d, block %d×%d×%d, %d registers',
        l.grid_x,
        l.grid_y,
        l.grid_z,
        l.block_x,
        l.block_y,
        l.block_z,
        l.registers
      )
  END
FROM kernel k
JOIN string n ON n.string_id = k.name_id
LEFT JOIN kernel_class c ON c.name_id = k.name_id
LEFT JOIN string q ON q.string_id = k.scope_id
LEFT JOIN string p ON p.string_id = k.phase_id
LEFT JOIN launch_config l
  ON l.run_id = k.run_id AND l.rank = k.rank AND l.pass = k.pass AND l.launch_config = k.launch_config
UNION ALL
SELECT
  m.run_id,
  m.rank,
  m.pass,
  m.step,
  'GPU',
  4,
  'copies',
  m.start_ns,
  m.end_ns,
  coalesce(n.text, ''),
  'copy',
  m.bytes || ' bytes on stream ' || m.stream
FROM memcpy m
JOIN string n ON n.string_id = m.name_id
UNION ALL
SELECT
  m.run_id,
  m.rank,
  m.pass,
  m.step,
  'GPU',
  4,
  'copies',
  m.start_ns,
  m.end_ns,
  coalesce(n.text, ''),
  'memset',
  m.bytes || ' bytes on stream ' || m.stream
FROM memset m
JOIN string n ON n.string_id = m.name_id;
CREATE VIEW timeline_step AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- trace or ops
  t.pass,
  -- last step that has phases or scopes
  t.step,
  -- start of that step, host clock, relative to the start of the run; 0 if unknown
  coalesce(
    (
      SELECT s.start_ns
      FROM sample s
      WHERE s.run_id = t.run_id AND s.rank = t.rank AND s.pass = t.pass AND s.step = t.step AND s.phase = 'step'
    ),
    0
  ) AS step_start_ns,
  -- 1 for the more detailed pass: ops on a CPU, otherwise trace
  t.preferred
FROM (
  SELECT
    w.run_id,
    w.rank,
    w.pass,
    CASE r.device_kind WHEN 'cpu' THEN w.pass = 'ops' ELSE w.pass = 'trace' END AS preferred,
    (SELECT max(g.step) FROM "range" g WHERE g.run_id = w.run_id AND g.rank = w.rank AND g.pass = w.pass) AS step
  FROM run r
  JOIN rank w ON w.run_id = r.run_id AND w.pass IN ('trace', 'ops')
) t
WHERE t.step >= 0;
CREATE VIEW phase_time AS
SELECT
  -- run
  r.run_id,
  -- invocation
  r.invocation_id,
  -- workload
  r.workload,
  -- identifies what is compared
  r.case_key,
  -- runs with the same key are repetitions
  r.plan_key,
  -- label
  r.label,
  -- suite
  r.suite,
  -- name of the case within the suite
  r.suite_case,
  -- index of the repetition (--repeat), from 0
  r.repetition,
  -- number of processes; the slowest rank determines each step
  r.ranks,
  -- status
  r.status,
  -- verification
  r.verification,
  -- phase, or `step` for the whole step
  s.phase,
  -- host or device
  s.clock,
  -- number of samples
  s.count,
  -- mean
  s.mean_ns / 1e6 AS mean_ms,
  -- standard deviation
  s.std_ns / 1e6 AS std_ms,
  -- median
  s.median_ns / 1e6 AS median_ms,
  -- minimum
  s.min_ns / 1e6 AS min_ms,
  -- maximum
  s.max_ns / 1e6 AS max_ms,
  -- lower end of the 95 % confidence interval of the mean
  s.ci_low_ns / 1e6 AS ci_low_ms,
  -- upper end of that interval
  s.ci_high_ns / 1e6 AS ci_high_ms,
  -- 95th percentile; NULL for fewer than 100 samples
  s.p95_ns / 1e6 AS p95_ms,
  -- number of samples excluded as throttled
  s.excluded,
  -- 1 if every sample was throttled
  s.all_throttled
FROM run r
JOIN statistic s ON s.run_id = r.run_id
WHERE
  s.clock = 'device'
  OR NOT EXISTS (SELECT 1 FROM statistic d WHERE d.run_id = s.run_id AND d.phase = s.phase AND d.clock = 'device');
CREATE VIEW throughput AS
SELECT
  -- run
  t.run_id,
  -- workload
  t.workload,
  -- name of the case within the suite
  t.suite_case,
  -- phase, or `step` for the whole step
  t.phase,
  -- host or device
  t.clock,
  -- mean time of the slowest rank
  t.mean_ms,
  -- floating-point operations of all ranks; NULL if not declared
  t.flops,
  -- bytes moved by all ranks; NULL if not declared
  t.bytes,
  -- floating-point operations per second
  t.flops / (t.mean_ms / 1e3) AS flops_per_s,
  -- bytes per second
  t.bytes / (t.mean_ms / 1e3) AS bytes_per_s,
  -- arithmetic intensity
  t.flops / t.bytes AS flops_per_byte
FROM (
  SELECT
    p.run_id,
    p.workload,
    p.suite_case,
    p.phase,
    p.clock,
    nullif(p.mean_ms, 0) AS mean_ms,
    (
      SELECT nullif(sum(w.flops), 0)
      FROM work w
      WHERE w.run_id = p.run_id AND (w.phase = p.phase OR p.phase = 'step')
    ) AS flops,
    (
      SELECT nullif(sum(w.bytes), 0)
      FROM work w
      WHERE w.run_id = p.run_id AND (w.phase = p.phase OR p.phase = 'step')
    ) AS bytes
  FROM phase_time p
  WHERE EXISTS (SELECT 1 FROM work w WHERE w.run_id = p.run_id AND (w.phase = p.phase OR p.phase = 'step'))
) t;
CREATE VIEW step_time AS
SELECT
  -- run
  s.run_id,
  -- step number from 0, including warm-up steps
  s.step,
  -- phase, or `step` for the whole step
  s.phase,
  -- 1 for a warm-up step
  s.warmup,
  -- 1 if the GPU of any rank was throttled
  s.throttled,
  -- on the device clock if every rank has it, otherwise on the host clock
  coalesce(s.device_ns, s.host_ns) / 1e6 AS time_ms,
  -- on the host clock
  s.host_ns / 1e6 AS host_ms,
  -- on the device clock; NULL on a CPU
  s.device_ns / 1e6 AS device_ms
FROM step_duration s;
CREATE VIEW warmup_steps AS
SELECT
  -- run
  s.run_id,
  -- step number from 0, including warm-up steps
  s.step,
  -- 1 for a warm-up step
  s.warmup,
  -- 1 if the GPU of any rank was throttled
  s.throttled,
  -- time of the slowest rank
  s.host_ns / 1e6 AS time_ms,
  -- time over the median of the measured steps; NULL if there are none
  s.host_ns / m.median_ns AS ratio
FROM step_duration s
LEFT JOIN statistic m ON m.run_id = s.run_id AND m.phase = 'step' AND m.clock = 'host'
WHERE s.phase = 'step';
CREATE VIEW reported_metric AS
SELECT
  -- run
  m.run_id,
  -- rank that reported it
  m.rank,
  -- pass in which it was reported
  m.pass,
  -- reporting order within the pass
  m.sequence,
  -- run, step or phase
  m.level,
  -- step it belongs to; NULL for a metric of the run
  m.step,
  -- phase it belongs to, or empty
  m.phase,
  -- metric name
  m.name,
  -- number or text
  m.value,
  -- unit of a numeric value
  m.unit
FROM (
  SELECT
    run_id,
    rank,
    pass,
    sequence,
    level,
    nullif(step, -1) AS step,
    phase,
    name,
    value,
    unit
  FROM metric
) m;
COMMIT;
