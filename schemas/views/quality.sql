-- SPDX-License-Identifier: Apache-2.0
-- Data quality: verification, clocks, dropped records, profiling overhead and attribution.

-- Each comparison of a workload's result with a reference.
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

-- GPU clocks, power and temperature during the measured steps of the time pass: lower medians over ranks and steps.
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

-- How long the threads of each rank waited for a processor during the measured steps of the time pass: whether other
-- processes, or too many threads, made the steps slower.
CREATE VIEW processor_wait AS
SELECT
  -- run
  s.run_id,
  -- rank
  s.rank,
  -- number of measured steps
  sum(s.steps) AS steps,
  -- elapsed time, including the time between the steps
  sum(s.wall_ns) / 1e6 AS wall_ms,
  -- processor time of all threads within the steps
  sum(s.cpu_ns) / 1e6 AS cpu_ms,
  -- share of the time that the thread that waited longest in a block of steps waited; NULL if the system does not count
  -- waits
  min(1.0, 1.0 * sum(s.longest_wait_ns) / nullif(sum(s.wall_ns), 0)) AS wait_share,
  -- time that all threads waited, summed, per elapsed time; NULL as above
  1.0 * sum(s.wait_ns) / nullif(sum(s.wall_ns), 0) AS waiting_threads,
  -- number of times that a thread lost its processor although it could run, per second of processor time
  1e9 * sum(s.involuntary_switches) / nullif(sum(s.cpu_ns), 0) AS switches_per_s,
  -- share of the time that any thread of the machine waited; NULL if unknown
  1.0 * sum(s.pressure_ns) / nullif(sum(s.wall_ns), 0) AS pressure_share,
  -- maximum number of running and waiting threads of the machine, over one minute; NULL if unknown
  max(s.load_average) AS load_average,
  -- 1 if the run has the warning `interference`: wait_share exceeds 10 %, or, where it is NULL, switches_per_s
  -- exceeds 50
  coalesce(
    1.0 * sum(s.longest_wait_ns) / nullif(sum(s.wall_ns), 0) > 0.1,
    1e9 * sum(s.involuntary_switches) / nullif(sum(s.cpu_ns), 0) > 50,
    0
  ) AS is_interference
FROM scheduling s
WHERE s.pass = 'time'
GROUP BY s.run_id, s.rank;

-- Dropped records of each run. Excludes the sources `suspended` and `detached`, which drop nothing; run_warning lists
-- them as `suspended` and `detached processes`.
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
  WHERE source NOT IN ('suspended', 'detached')
) l
JOIN run r ON r.run_id = l.run_id;

-- Profiling overhead: the median step of each profiled pass compared with that of the time pass of the same run.
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
  -- description of the ratio: below 1.5 in percent, from 1.5 on as a factor; differences up to 2 % are within noise
  CASE
    WHEN o.ratio < 0.98 THEN 'no measurable overhead (profiled steps were faster)'
    WHEN o.ratio <= 1.02 THEN 'no measurable overhead'
    WHEN o.ratio < 1.5 THEN printf('%.1f %% slower', 100 * (o.ratio - 1))
    ELSE printf('%.*f times as long', CASE WHEN o.ratio < 9.995 THEN 2 WHEN o.ratio < 99.95 THEN 1 ELSE 0 END, o.ratio)
  END AS summary
FROM overhead o
JOIN run r ON r.run_id = o.run_id;

-- Attribution of kernels, copies and memsets in the measured steps, as shares of device time. A trace is reliable if
-- nearly all time has a phase and, for workloads with scopes, a scope.
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
  -- share of kernels that a compiler fused from several modules
  1.0 * g.fused_ns / nullif(g.total_ns, 0) AS fused_share,
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
    sum(CASE e.attribution WHEN 'fused' THEN e.total_ns ELSE 0 END) AS fused_ns,
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
