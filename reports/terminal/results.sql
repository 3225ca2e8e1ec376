-- SPDX-License-Identifier: Apache-2.0
-- One row for each case of :cases: its runs, and what the command line found to differ. :all shows what the runs agree
-- on as well.
-- column run: align="right"
-- column case: optional=true
-- column workload: omit=1
-- column texts: spread=true
-- column label: optional=true, omit=1
-- column runs: optional=true, omit=3
-- column mean_ns: title="mean step", unit="ns", prefix="auto", format="significant", digits=3,
--   plus_minus="half_width", relative=true, optional=true
-- column median_ns: title="median step", unit="ns", prefix="auto", format="significant", digits=3,
--   plus_minus="median_half_width", relative=true,
--   optional=true
-- column min_ns: title="between runs", unit="ns", prefix="auto", format="significant", digits=3, to="max_ns",
--   optional=true, omit=3
-- column mean_of_run: title="mean ± std", unit="ns", prefix="auto", format="significant", digits=3,
--   plus_minus="std_ns", optional=true, omit=6
-- column phases: spread=true, unit="ns", prefix="auto", format="significant", digits=3, omit=5
-- column flops: title="FLOP/s{per_rank}", prefix="auto", unit="1", format="significant", digits=3, optional=true,
--   omit=4
-- column bytes: title="B/s{per_rank}", prefix="auto", unit="1", format="significant", digits=3, optional=true, omit=4
-- column algbw: unit="GB/s", prefix="auto", format="significant", digits=3, optional=true, omit=4
-- column busbw: unit="GB/s", prefix="auto", format="significant", digits=3, optional=true, omit=4
-- column status: optional=true, omit=2
-- column verification: optional=true, omit=2
-- column metrics: spread=true, align="right", omit=7
WITH run AS MATERIALIZED (
  SELECT
    c.key AS case_id,
    r.id AS position,
    r.value AS run
  FROM json_each(:cases) c, json_each(c.value, '$.runs') r
),
phase AS MATERIALIZED (
  SELECT
    r.case_id,
    p.key AS phase,
    p.id AS position,
    p.value AS time,
    first_value(p.value) OVER (PARTITION BY r.case_id, p.key ORDER BY r.position) AS first_time
  FROM run r, json_each(r.run, '$.phases') p
  WHERE r.run ->> 'status' = 'ok' AND p.value ->> 'mean_ns' > 0 AND p.value ->> 'median_ns' > 0
),
-- What represents most runs of the case, by their steps.
represented AS (
  SELECT
    p.case_id,
    iif(2 * sum(p.time ->> 'statistic' = 'mean') > count(*), 'mean', 'median') AS statistic
  FROM phase p
  WHERE p.phase = 'step'
  GROUP BY p.case_id
),
phase_time AS MATERIALIZED (
  SELECT
    p.case_id,
    p.phase,
    min(p.position) AS position,
    count(*) AS runs,
    s.statistic,
    median(p.time ->> 'mean_ns') AS mean_ns,
    median(p.time ->> 'median_ns') AS median_ns,
    median(p.time ->> (s.statistic || '_ns')) AS time_ns,
    min(p.time ->> (s.statistic || '_ns')) AS min_ns,
    max(p.time ->> (s.statistic || '_ns')) AS max_ns,
    min(p.first_time) AS first_time
  FROM phase p
  JOIN represented s ON s.case_id = p.case_id
  GROUP BY p.case_id, p.phase
),
step AS (SELECT t.* FROM phase_time t WHERE t.phase = 'step'),
-- A single phase repeats the step, and little time outside of phases says nothing.
shown_phase AS (
  SELECT
    t.case_id,
    t.phase,
    t.time_ns,
    t.phase = 'other' AS is_other,
    min(t.position) OVER (PARTITION BY t.phase) AS position
  FROM phase_time t
  WHERE
    t.phase <> 'step'
    AND (:all OR (SELECT count(DISTINCT p.phase) FROM phase_time p WHERE p.phase NOT IN ('step', 'other')) > 1)
    AND (
      :all
      OR t.phase <> 'other'
      OR EXISTS (
        SELECT 1
        FROM phase_time o
        JOIN step s ON s.case_id = o.case_id
        WHERE o.phase = 'other' AND o.time_ns > 0.05 * s.time_ns
      )
    )
)
SELECT
  c.value ->> 'run' AS run,
  iif(
    min(c.value ->> '$.runs[0].suite_case') OVER () <> max(c.value ->> '$.runs[0].suite_case') OVER (),
    c.value ->> '$.runs[0].suite_case',
    NULL
  ) AS "case",
  c.value ->> '$.runs[0].workload' AS workload,
  c.value -> 'texts' AS texts,
  iif(
    min(c.value ->> '$.runs[0].label') OVER () <> max(c.value ->> '$.runs[0].label') OVER (),
    c.value ->> '$.runs[0].label',
    NULL
  ) AS label,
  iif(max(json_array_length(c.value, '$.runs')) OVER () > 1, coalesce(s.runs, 0), NULL) AS runs,
  iif(max(s.statistic = 'mean') OVER (), s.mean_ns, NULL) AS mean_ns,
  iif(
    coalesce(max(s.statistic = 'median' OR abs(s.mean_ns - s.median_ns) > 0.05 * s.median_ns) OVER (), 0),
    s.median_ns,
    NULL
  ) AS median_ns,
  iif(s.runs > 1, s.min_ns, NULL) AS min_ns,
  s.max_ns,
  iif(
    s.runs = 1
    AND (
      :all
      OR NOT max(s.statistic = 'mean') OVER ()
      AND max(
        (
          SELECT max(r.run ->> 'steps' > 1 OR r.run ->> 'until_relative_error' IS NOT NULL)
          FROM run r
          WHERE r.case_id = c.key
        )
      ) OVER ()
    ),
    s.mean_ns,
    NULL
  ) AS mean_of_run,
  (
    SELECT json_group_object(p.phase, p.time_ns)
    FROM (SELECT * FROM shown_phase ORDER BY is_other, position) p
    WHERE p.case_id = c.key
  ) AS phases,
  s.first_time ->> 'flops' / s.time_ns * 1e9 AS flops,
  s.first_time ->> 'bytes' / s.time_ns * 1e9 AS bytes,
  s.first_time ->> 'algbw_gb_s' * (s.first_time ->> 'median_ns') / s.time_ns AS algbw,
  s.first_time ->> 'busbw_gb_s' * (s.first_time ->> 'median_ns') / s.time_ns AS busbw,
  iif(:all OR max(c.value ->> 'status' <> 'ok') OVER (), c.value ->> 'status', NULL) AS status,
  iif(
    :all OR (SELECT count(DISTINCT r.run ->> 'verification') > 1 FROM run r),
    c.value ->> 'verification',
    NULL
  ) AS verification,
  c.value -> 'metrics' AS metrics,
  iif(max((SELECT max(r.run ->> 'ranks') FROM run r WHERE r.case_id = c.key)) OVER () > 1, ' per rank', '') AS per_rank,
  iif(
    s.runs = 1,
    max(
      s.first_time ->> 'mean_ns' - s.first_time ->> 'ci_low_ns',
      s.first_time ->> 'ci_high_ns' - s.first_time ->> 'mean_ns'
    )
    / s.mean_ns,
    NULL
  ) AS half_width,
  iif(
    s.runs = 1,
    max(
      s.first_time ->> 'median_ns' - s.first_time ->> 'median_low_ns',
      s.first_time ->> 'median_high_ns' - s.first_time ->> 'median_ns'
    )
    / s.median_ns,
    NULL
  ) AS median_half_width,
  s.first_time ->> 'std_ns' AS std_ns
FROM json_each(:cases) c
LEFT JOIN step s ON s.case_id = c.key
ORDER BY c.key
