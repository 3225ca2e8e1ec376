-- SPDX-License-Identifier: Apache-2.0
-- How busy the GPU was over the measured steps of the pass that kernel_pass names, and which calls stood out.

-- Busy and idle time of the GPU within each phase and the whole step: means of the measured steps. A phase is the
-- stretch on the device between its boundaries.
CREATE VIEW launch_gap AS
SELECT
  -- the run
  a.run_id,
  -- its rank
  a.rank,
  -- pass it was observed in
  a.pass,
  -- phase; `step` is the whole step
  a.phase,
  -- measured steps
  count(*) AS steps,
  -- length of the stretch
  avg(a.end_ns - a.start_ns) / 1e6 AS span_ms,
  -- something ran: a kernel, copy or memset
  avg(a.end_ns - a.start_ns - a.idle_ns) / 1e6 AS busy_ms,
  -- nothing ran
  avg(a.idle_ns) / 1e6 AS idle_ms,
  -- of the stretch
  1.0 * sum(a.idle_ns) / nullif(sum(a.end_ns - a.start_ns), 0) AS idle_share,
  -- stretches in which nothing ran
  avg(a.gaps) AS gaps,
  -- longest of them in any step
  max(a.longest_gap_ns) / 1e3 AS longest_gap_us,
  -- kernels, copies and memsets that started in it
  avg(a.kernels) AS kernels,
  -- sum of the kernels' durations, which counts twice what overlaps
  avg(a.kernel_ns) / 1e6 AS kernel_ms
FROM kernel_pass k
JOIN step_activity a ON a.run_id = k.run_id AND a.rank = k.rank AND a.pass = k.pass
WHERE a.warmup = 0
GROUP BY a.run_id, a.rank, a.pass, a.phase;

-- The stretch that a step's kernels span, against the same step timed by events: two clocks that must agree.
CREATE VIEW step_span AS
SELECT
  -- the run
  t.run_id,
  -- its rank
  t.rank,
  -- pass it was observed in
  t.pass,
  -- measured step
  t.step,
  -- from the records of the kernels
  t.span_ns / 1e6 AS span_ms,
  -- between events on the device
  t.timed_ns / 1e6 AS timed_ms,
  -- span less timed
  (t.span_ns - t.timed_ns) / 1e6 AS difference_ms,
  -- the larger of 1 % and 60 µs
  max(0.01 * t.timed_ns, 60000) / 1e6 AS allowed_ms,
  -- 1 if the difference is within it
  abs(t.span_ns - t.timed_ns) <= max(0.01 * t.timed_ns, 60000) AS agrees
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

-- Calls that lasted far longer than others of the same name, launch shape, phase and module, and what was different
-- about them. Kernels of communication are not looked at: how long they last depends on the message and on the other
-- ranks.
CREATE VIEW outlier_call AS
SELECT
  -- the run
  o.run_id,
  -- rank that launched it
  o.rank,
  -- pass it ran in
  o.pass,
  -- as in kernel
  o.sequence,
  -- step; −1 outside of steps
  o.step,
  -- phase that launched it; `other` outside of phases
  coalesce(p.text, 'other') AS phase,
  -- path of scopes; NULL if none is known
  s.text AS scope,
  -- that path without the numbers of repeated parts
  (SELECT q.module FROM scope_path q WHERE q.scope_id = o.scope_id) AS module,
  -- what kind of kernel it is
  coalesce(c.class, 'other') AS class,
  -- name without template arguments, parameters and namespaces
  coalesce(c.short_name, n.text) AS short_name,
  -- full name
  n.text AS name,
  -- how long it ran
  o.duration_ns / 1e3 AS duration_us,
  -- median of its siblings
  o.sibling_median_ns / 1e3 AS sibling_median_us,
  -- duration over that median
  1.0 * o.duration_ns / nullif(o.sibling_median_ns, 0) AS ratio,
  -- time above it
  (o.duration_ns - o.sibling_median_ns) / 1e3 AS excess_us,
  -- calls compared, itself included
  o.siblings,
  -- distance from the median in median absolute deviations
  o.deviation,
  -- clock at the nearest reading; NULL without one
  o.sm_clock_mhz,
  -- median of the pass's readings, of an even number the lower middle one; NULL without one
  u.usual_mhz AS usual_sm_clock_mhz,
  -- how it differs: first use, a clock 3 % below the usual one, work beside it (and, of the 256 kernels before and
  -- after it, what ran longest beside it), 50 µs of idleness before it
  CASE
    WHEN
      o.first_use = 0
      AND o.concurrent = 0
      AND o.gap_before_ns < 50000
      AND coalesce(o.sm_clock_mhz >= 0.97 * u.usual_mhz, 1)
      THEN 'nothing that was recorded'
    ELSE
      substr(
        CASE o.first_use WHEN 1 THEN ', first use of this kernel' ELSE '' END
        || CASE
          WHEN o.sm_clock_mhz < 0.97 * u.usual_mhz
            THEN ', clock ' || o.sm_clock_mhz || ' MHz instead of ' || u.usual_mhz || ' MHz'
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
  END AS differs
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
    sm_clock_mhz AS usual_mhz
  FROM (
    SELECT
      run_id,
      rank,
      pass,
      sm_clock_mhz,
      row_number() OVER (PARTITION BY run_id, rank, pass ORDER BY sm_clock_mhz) AS place,
      count(*) OVER (PARTITION BY run_id, rank, pass) AS readings
    FROM gpu_sample
    WHERE sm_clock_mhz IS NOT NULL AND pass <> 'time'
  )
  WHERE place = (readings + 1) / 2
) u ON u.run_id = o.run_id AND u.rank = o.rank AND u.pass = o.pass;
