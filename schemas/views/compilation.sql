-- SPDX-License-Identifier: Apache-2.0
-- What was compiled while a program ran, and the time that it took.

-- Each compilation and graph break of an observed program. All passes of a run start the program, and each compiles.
CREATE VIEW compilation_event AS
SELECT
  -- run
  c.run_id,
  -- rank
  c.rank,
  -- pass
  c.pass,
  -- order on this rank
  c.sequence,
  -- compilation, recompilation, backward, runtime, failure or graph_break
  c.kind,
  -- step of the pass; −1 before its first step
  c.step,
  -- step of the program, from 0; −1 before its first step
  c.program_step,
  -- 1 in a measured step
  EXISTS(
    SELECT 1
    FROM _measured_step s
    WHERE s.run_id = c.run_id AND s.rank = c.rank AND s.pass = c.pass AND s.step = c.step
  ) AS measured,
  -- function that is compiled; for a graph break, the one that contains the code
  c.function,
  -- source file and line, such as `train.py:12`; empty if unknown
  replace(c.file, rtrim(c.file, replace(c.file, '/', '')), '') || coalesce(':' || c.line, '') AS location,
  -- path of the source file; empty if unknown
  c.file,
  -- first line of the function; for a graph break, the line of the code
  c.line,
  -- why it is compiled again, why it failed, or what Dynamo cannot compile; empty for others
  c.reason,
  -- start, host clock, relative to the start of the run
  c.start_ns / 1e6 AS start_ms,
  -- duration; 0 for a graph break
  c.duration_ns / 1e6 AS ms,
  -- part of it in which Inductor generated and compiled kernels; NULL if unknown
  c.inductor_ns / 1e6 AS inductor_ms,
  -- 1 if the pass records the least of those of the run with compilations: the first of time, trace, ops and memory
  NOT EXISTS (
    SELECT 1
    FROM _lesser_pass l
    CROSS JOIN compilation x ON x.run_id = c.run_id AND x.rank = c.rank AND x.pass = l.lesser
    WHERE l.pass = c.pass
  ) AS is_least_observed
FROM compilation c;

-- Compile time of each step of a program in which something was compiled.
CREATE VIEW compilation_step AS
SELECT
  -- run
  e.run_id,
  -- rank
  e.rank,
  -- pass
  e.pass,
  -- step of the program, from 0; −1 before its first step
  e.program_step,
  -- step of the pass; −1 before its first step
  e.step,
  -- 1 for a measured step
  max(e.measured) AS measured,
  -- number of compilations of all kinds
  sum(e.kind <> 'graph_break') AS compilations,
  -- number of recompilations
  sum(e.kind = 'recompilation') AS recompilations,
  -- number of graph breaks
  sum(e.kind = 'graph_break') AS graph_breaks,
  -- time of the compilations
  sum(e.ms) AS compile_ms,
  -- part of it in which Inductor generated and compiled kernels; NULL if unknown
  sum(e.inductor_ms) AS inductor_ms,
  -- duration of the step; NULL if it was not recorded
  (
    SELECT s.host_ns / 1e6
    FROM sample s
    WHERE s.run_id = e.run_id AND s.rank = e.rank AND s.pass = e.pass AND s.step = e.step AND s.phase = 'step'
  ) AS step_ms,
  -- as in compilation_event
  max(e.is_least_observed) AS is_least_observed
FROM compilation_event e
GROUP BY e.run_id, e.rank, e.pass, e.program_step, e.step;

-- The code that was compiled repeatedly or left out of compiled graphs: graph breaks, recompilations and failures by
-- place and reason, from the pass of a run that records the least.
CREATE VIEW compilation_cause AS
SELECT
  -- run
  e.run_id,
  -- rank
  e.rank,
  -- recompilation, failure or graph_break
  e.kind,
  -- source file and line
  e.location,
  -- function
  e.function,
  -- why
  e.reason,
  -- how often
  count(*) AS count,
  -- first and last step of the program in which it happened
  CASE
    WHEN min(e.program_step) = max(e.program_step) THEN CAST(min(e.program_step) AS TEXT)
    ELSE min(e.program_step) || ' to ' || max(e.program_step)
  END AS steps,
  -- how often in measured steps
  sum(e.measured) AS measured,
  -- time of the compilations; 0 for graph breaks
  sum(e.ms) AS ms
FROM compilation_event e
WHERE e.is_least_observed = 1 AND e.kind IN ('graph_break', 'recompilation', 'failure')
GROUP BY e.run_id, e.rank, e.kind, e.location, e.function, e.reason;
