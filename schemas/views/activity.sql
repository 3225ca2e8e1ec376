-- SPDX-License-Identifier: Apache-2.0
-- GPU utilization in the measured steps of the pass selected by kernel_pass, and outlier kernel calls.

-- Busy and idle time of the GPU within each phase and the whole step: means over the measured steps. A phase is an
-- interval on the device, as in step_activity.
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
  -- start in the first measured step, host clock, relative to the start of the run
  min(a.start_ns) AS start_ns,
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

-- Time per measured step during which nothing ran on the GPU, by what the host did in it. Steps are intervals on the
-- host clock.
CREATE VIEW idle_time AS
SELECT
  -- run
  i.run_id,
  -- rank
  i.rank,
  -- pass in which it was recorded
  i.pass,
  -- phase that the host was in; `other` outside of phases
  coalesce(p.text, 'other') AS phase,
  -- module that it was in, or if it was in none, that of the work that ended the gap; NULL if there is none
  q.module,
  -- host code (also operators, if the pass did not record them), operator, compilation, or launch: the work that ended
  -- the gap had been launched
  i.activity,
  -- number of measured steps
  max(i.steps) AS steps,
  -- gaps that began here
  1.0 * sum(i.gaps) / max(i.steps) AS gaps,
  -- idle time
  sum(i.total_ns) / 1e6 / max(i.steps) AS idle_ms,
  -- part of it in gaps that began when a copy to the host ended, for which the host usually waits
  sum(i.after_copy_ns) / 1e6 / max(i.steps) AS after_copy_ms,
  -- duration of a step
  (
    SELECT avg(s.host_ns) / 1e6
    FROM _measured_step s
    WHERE s.run_id = i.run_id AND s.rank = i.rank AND s.pass = i.pass
  ) AS step_ms
FROM kernel_pass k
JOIN idle_total i ON i.run_id = k.run_id AND i.rank = k.rank AND i.pass = k.pass
LEFT JOIN string p ON p.string_id = i.phase_id
LEFT JOIN scope_path q ON q.scope_id = i.scope_id
GROUP BY i.run_id, i.rank, i.pass, i.phase_id, q.module, i.activity;

-- The interval spanned by the kernels of a step, compared with the step time measured by CUDA events. The two must
-- agree.
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
  JOIN _measured_step s
    ON s.run_id = a.run_id AND s.rank = a.rank AND s.pass = a.pass AND s.step = a.step AND s.device_ns IS NOT NULL
) t;

-- Kernel calls that took far longer than other calls with the same name, launch configuration, phase and module, with
-- their possible cause. Communication kernels are excluded: their duration depends on the message and on the other
-- ranks.
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
