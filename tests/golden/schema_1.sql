-- SPDX-License-Identifier: Apache-2.0
-- A results database as schema 1 left it. Never change it: every later tool must open it.
PRAGMA page_size = 8192;
PRAGMA application_id = 1803119983;
PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY,  -- schema_version, compatible_version (oldest schema whose tools can still use the file), kymo_version, views (names, by commas), views_digest
  value TEXT NOT NULL             -- the fact
) WITHOUT ROWID;
INSERT INTO meta VALUES('compatible_version','1');
INSERT INTO meta VALUES('kymo_version','0.1.0');
INSERT INTO meta VALUES('schema_version','1');
INSERT INTO meta VALUES('views','oom,worker_memory,run_standing,run_title,run_memory,run_caution,transformer_run,current_run,run_list,run_parameter,failures,environment_fact,worker_stage,first_step_content,phase_time,throughput,step_time,warmup_steps,reported_metric,verification_result,device_clock,run_loss');
INSERT INTO meta VALUES('views_digest','37d6eaffd5327aa2d53b2dcfa8367c92b97d9d777a0137993a3b629a419902d9');
CREATE TABLE invocation (
  invocation_id INTEGER PRIMARY KEY,  -- number within this database
  uuid TEXT NOT NULL UNIQUE,          -- identity across databases: what merge goes by
  command TEXT NOT NULL,              -- the command line
  started_at TEXT NOT NULL,           -- wall-clock time in UTC, ISO 8601
  ended_at TEXT,                      -- NULL while it works, or if it was killed
  exit_code INTEGER                   -- exit code of the tool; NULL as above
);
INSERT INTO invocation VALUES(1,'7a7fd5f4-e6f3-4764-8a90-323458d85a41','kymo run saxpy','2026-11-21T11:23:04.039Z','2026-11-21T11:23:04.134Z',0);
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
);
INSERT INTO run VALUES(1,1,0,1,'saxpy','f0bb6c87e25c1c72','d27683aceaf83846','','','',0,1,'cpu','sync','step',2,10,NULL,'verify,time',0,'ok','','',NULL,NULL,NULL,'','',NULL,'2026-11-21T11:23:04.066Z','2026-11-21T11:23:04.098Z');
INSERT INTO run VALUES(2,1,1,1,'saxpy','bd5a2baa28f979a5','5f5980bcd931bf0e','','','',0,1,'cpu','sync','step',2,10,NULL,'verify,time',0,'oom','out of memory','',NULL,NULL,0,'time','compute',0,'2026-11-21T11:23:04.164Z','2026-11-21T11:23:04.198Z');
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
  stderr TEXT NOT NULL,                    -- the same for its standard error
  PRIMARY KEY (run_id, rank, pass)
) WITHOUT ROWID;
INSERT INTO rank VALUES(1,0,'time',4711,'node1','ok',1,1048576,262144,524288,'hello','');
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
CREATE INDEX run_by_plan ON run (plan_key);
CREATE UNIQUE INDEX run_by_invocation ON run (invocation_id, sequence);
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
       status AS kind,                                                  -- a status other than ok, `not verified`, `slowed down`, `all slowed down`, `unsteady` (a standard deviation above a quarter of the mean) or `lost records`
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
SELECT l.run_id,    -- the run
       l.rank,      -- rank it is missing of; NULL for the whole run
       l.pass,      -- pass it is missing of, or empty
       l.source,    -- collector or part of the tool that lost it
       l.count,     -- how many; NULL if unknown
       l.detail     -- what and why
FROM (SELECT run_id, nullif(rank, -1) AS rank, pass, source, nullif(count, -1) AS count, detail FROM loss) l
;
COMMIT;
