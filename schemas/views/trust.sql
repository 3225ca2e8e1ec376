-- SPDX-License-Identifier: Apache-2.0
-- How far the figures can be trusted.

-- Each comparison of a workload's result with a reference.
CREATE VIEW verification_result AS
SELECT
  -- the run
  v.run_id,
  -- its workload
  r.workload,
  -- name of the case within the suite
  r.suite_case,
  -- rank that compared
  v.rank,
  -- what was compared
  v.name,
  -- passed, failed or unavailable
  v.outcome,
  -- largest absolute difference; NULL if unknown
  v.max_abs_error,
  -- largest relative difference; NULL if unknown
  v.max_rel_error,
  -- what is admitted; NULL if the workload did not say
  v.tolerance,
  -- what it was compared with
  v.reference,
  -- why it failed or was not possible
  v.detail
FROM verification v
JOIN run r ON r.run_id = v.run_id;

-- State of the GPUs during the steps of the time pass, warm-up left out: medians over ranks and steps, of an even
-- number the lower middle one.
CREATE VIEW device_clock AS
SELECT
  -- the run
  r.run_id,
  -- its workload
  r.workload,
  -- name of the case within the suite
  r.suite_case,
  -- readings
  c.readings,
  -- median clock of the multiprocessors
  (
    SELECT m.reading
    FROM (
      SELECT
        g.sm_clock_mhz AS reading,
        row_number() OVER (ORDER BY g.sm_clock_mhz) AS place
      FROM gpu_sample g
      WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.sm_clock_mhz IS NOT NULL
    ) m
    WHERE m.place = (c.sm_clocks + 1) / 2
  ) AS sm_clock_mhz,
  -- lowest clock of the multiprocessors
  c.min_sm_clock_mhz,
  -- highest clock of the multiprocessors
  c.max_sm_clock_mhz,
  -- median clock of the memory
  (
    SELECT m.reading
    FROM (
      SELECT
        g.memory_clock_mhz AS reading,
        row_number() OVER (ORDER BY g.memory_clock_mhz) AS place
      FROM gpu_sample g
      WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.memory_clock_mhz IS NOT NULL
    ) m
    WHERE m.place = (c.memory_clocks + 1) / 2
  ) AS memory_clock_mhz,
  -- median power draw of one GPU
  (
    SELECT m.reading
    FROM (
      SELECT
        g.power_mw / 1e3 AS reading,
        row_number() OVER (ORDER BY g.power_mw) AS place
      FROM gpu_sample g
      WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.power_mw IS NOT NULL
    ) m
    WHERE m.place = (c.powers + 1) / 2
  ) AS power_w,
  -- median temperature of the chip
  (
    SELECT m.reading
    FROM (
      SELECT
        g.temperature_c AS reading,
        row_number() OVER (ORDER BY g.temperature_c) AS place
      FROM gpu_sample g
      WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.temperature_c IS NOT NULL
    ) m
    WHERE m.place = (c.temperatures + 1) / 2
  ) AS temperature_c,
  -- highest temperature of the chip
  c.max_temperature_c,
  -- readings under the software power cap, which is flagged and kept
  c.power_capped,
  -- readings slowed down by heat
  c.thermal_slowdown,
  -- readings slowed down by the board (its power brake included)
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

-- What is known to be missing from each run: all its losses.
CREATE VIEW run_loss AS
SELECT
  -- the run
  l.run_id,
  -- its workload
  r.workload,
  -- name of the case within the suite
  r.suite_case,
  -- rank it is missing of; NULL for the whole run
  l.rank,
  -- pass it is missing of, or empty
  l.pass,
  -- collector or part of the tool that lost it
  l.source,
  -- how many; NULL if unknown
  l.count,
  -- what and why
  l.detail
FROM (
  SELECT
    run_id,
    nullif(rank, -1) AS rank,
    pass,
    source,
    nullif(count, -1) AS count,
    detail
  FROM loss
) l
JOIN run r ON r.run_id = l.run_id;

-- What observing cost: the median step of each observed pass against that of the time pass of the same run.
CREATE VIEW trace_overhead AS
SELECT
  -- the run
  o.run_id,
  -- its workload
  r.workload,
  -- name of the case within the suite
  r.suite_case,
  -- rank it was measured on
  o.rank,
  -- the observed pass
  o.pass,
  -- phase, or `step` for the whole step
  o.phase,
  -- observed steps, without warm-up
  o.steps,
  -- median time under observation, on the host's clock
  o.observed_ns / 1e6 AS observed_ms,
  -- median time in the time pass
  o.time_ns / 1e6 AS time_ms,
  -- observed over unobserved
  o.ratio,
  -- the same in words; differences up to 2 % are taken for scatter
  CASE
    WHEN o.ratio < 0.98 THEN 'no cost that shows: the observed steps were faster'
    WHEN o.ratio <= 1.02 THEN 'no cost that shows'
    ELSE printf('%.*f %% longer', CASE WHEN o.ratio < 1.1 THEN 1 ELSE 0 END, 100 * (o.ratio - 1))
  END AS verdict
FROM overhead o
JOIN run r ON r.run_id = o.run_id;

-- How kernels, copies and memsets of the measured steps were placed, as shares of their time. A trace says where time
-- went if nearly all of it has a phase and, in a workload with scopes, a scope.
CREATE VIEW attribution_coverage AS
SELECT
  -- the run
  g.run_id,
  -- its rank
  g.rank,
  -- pass they ran in
  g.pass,
  -- phase; `step` is the whole step, `other` what has no phase
  g.phase,
  -- device time per step
  g.total_ns / 1e6 / g.steps AS device_ms,
  -- has a phase
  1.0 * g.phase_ns / nullif(g.total_ns, 0) AS phase_share,
  -- has a scope
  1.0 * g.scope_ns / nullif(g.total_ns, 0) AS scope_share,
  -- has the scope of the thread that launched it
  1.0 * g.launch_ns / nullif(g.total_ns, 0) AS launch_share,
  -- has the forward scope of the backward node that launched it
  1.0 * g.autograd_ns / nullif(g.total_ns, 0) AS autograd_share,
  -- was placed by its node in a CUDA graph
  1.0 * g.graph_ns / nullif(g.total_ns, 0) AS graph_share,
  -- has a phase and no scope
  1.0 * g.phase_only_ns / nullif(g.total_ns, 0) AS phase_only_share,
  -- could not be placed
  1.0 * g.none_ns / nullif(g.total_ns, 0) AS none_share
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
