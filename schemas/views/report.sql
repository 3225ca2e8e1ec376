-- SPDX-License-Identifier: Apache-2.0
-- What reports show besides measurements: run status, run titles, and warnings.

-- The status of each run, as shown in reports.
CREATE VIEW run_status AS
SELECT
  -- run
  r.run_id,
  -- empty for a run with status ok, `OOM`, or the status
  CASE r.status WHEN 'ok' THEN '' WHEN 'oom' THEN 'OOM' ELSE r.status END AS status_label,
  -- status with its reason
  CASE WHEN r.status = 'ok' THEN 'ok' WHEN r.status = 'oom' THEN 'OOM' ELSE r.status END
  || CASE WHEN r.detail = '' THEN '' ELSE ': ' || r.detail END AS status_detail,
  -- passed, failed, not verified (no reference, or the run ended before) or not requested
  CASE r.verification
    WHEN 'unavailable' THEN 'not verified'
    WHEN '' THEN CASE WHEN ',' || r.passes || ',' LIKE '%,verify,%' THEN 'not verified' ELSE 'not requested' END
    ELSE r.verification
  END AS verified,
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

-- Short titles that distinguish a run from other runs in this database: the parameters, as titles show them, and
-- settings that vary. Timing,
-- steps and seed are compared only within the same case, because each case of a suite may set its own.
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
    min(ranks) <> max(ranks) AS ranks,
    min(device_kind) <> max(device_kind) AS device,
    min(warmup) <> max(warmup) AS warmup,
    min(sync) <> max(sync) AS sync,
    min(timing) <> max(timing) AS timing,
    min(steps) <> max(steps) AS steps,
    min(seed) <> max(seed) AS seed,
    min(label) <> max(label) AS label,
    min(repetition) <> max(repetition) AS repetition
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
),
varying_within AS (
  SELECT
    r.workload,
    r.suite_case,
    p.name
  FROM param p
  JOIN run r ON r.run_id = p.run_id
  GROUP BY r.workload, r.suite_case, p.name
  HAVING min(p.value) <> max(p.value)
)
SELECT
  -- run
  t.run_id,
  -- distinguishes it from other runs of its workload; for example `n=1024, device=cuda`
  coalesce(nullif(substr(t.title, 3), ''), 'only case') AS title,
  -- distinguishes it from other runs of its workload and case; NULL if they do not differ
  nullif(substr(t.title_in_case, 3), '') AS title_in_case
FROM (
  SELECT
    r.run_id,
    CASE WHEN d.suite_case AND r.suite_case <> '' THEN ', case=' || r.suite_case ELSE '' END
    || coalesce(
      (
        SELECT group_concat(part, '')
        FROM (
          SELECT ', ' || CASE p.title WHEN '' THEN p.name || '=' || p.text ELSE ltrim(p.title) END AS part
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
    || CASE WHEN d.repetition THEN ', repetition=' || (r.repetition + 1) ELSE '' END AS title,
    coalesce(
      (
        SELECT group_concat(part, '')
        FROM (
          SELECT ', ' || CASE p.title WHEN '' THEN p.name || '=' || p.text ELSE ltrim(p.title) END AS part
          FROM varying_within v
          JOIN run_parameter p ON p.run_id = r.run_id AND p.name = v.name
          WHERE v.workload = r.workload AND v.suite_case = r.suite_case AND p.text <> ''
          ORDER BY p.name
        )
      ),
      ''
    )
    || CASE WHEN w.ranks THEN ', ranks=' || r.ranks ELSE '' END
    || CASE WHEN w.device THEN ', device=' || r.device_kind ELSE '' END
    || CASE WHEN w.warmup THEN ', warm-up=' || r.warmup ELSE '' END
    || CASE WHEN w.sync THEN ', sync=' || r.sync ELSE '' END
    || CASE WHEN w.timing THEN ', timing=' || r.timing ELSE '' END
    || CASE WHEN w.steps AND r.steps > 0 THEN ', steps=' || r.steps ELSE '' END
    || CASE WHEN w.seed THEN ', seed=' || r.seed ELSE '' END
    || CASE WHEN w.label AND r.label <> '' THEN ', label=' || r.label ELSE '' END
    || CASE WHEN w.repetition THEN ', repetition=' || (r.repetition + 1) ELSE '' END AS title_in_case
  FROM run r
  JOIN differs d ON d.workload = r.workload
  JOIN differs_within w ON w.workload = r.workload AND w.suite_case = r.suite_case
) t;

-- Peak memory use of any rank of a run, in its time pass.
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

-- Warnings about the data quality of each run. A run may have several rows, or none.
CREATE VIEW run_warning AS
WITH wide_time AS (
  SELECT
    run_id,
    statistic,
    time_ms,
    time_low_ms,
    time_high_ms
  FROM phase_time
  WHERE
    phase = 'step'
    AND status = 'ok'
    AND max(time_high_ms - time_ms, time_ms - time_low_ms) > 0.5 * time_ms
),
disturbed AS (
  SELECT
    run_id,
    wait_share,
    switches_per_s,
    load_average
  FROM processor_wait
  WHERE wait_share > 0.1 OR wait_share IS NULL AND switches_per_s > 50
)
SELECT
  -- run
  run_id,
  -- a status other than ok, `not verified`, `throttled`, `all throttled`, `unstable` (standard deviation > 25 % of
  -- the mean), `unlike steps` (for runs that the mean represents: mean and median differ by more than 5 %),
  -- `interference` (steps waited for a processor), `not reproducible` (the confidence interval of the median or mean
  -- step, whichever represents the run, reaches more than 50 % of it to one side, without interference), `imprecise`
  -- (--until was not reached), `short steps` (for timing sync; with timing hot, no work on the device), `unused phases`
  -- (declared and never entered), `launch overhead` (timing hot: device times may include it), `fewer steps` (timing
  -- free: the program ended early), `different executions` (timing free: passes of the program did not do the same),
  -- `assumed steps` (timing free: where a step ends was assumed), `not observed` (timing free: what could not be
  -- observed), `other profiler` (timing free: the program used one within the steps), `unobserved ranks` (timing free:
  -- the program starts its ranks several times), `unobserved processes` (timing free: other processes trained),
  -- `suspended`, `no kernel records`, `detached processes` or `dropped records`
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
  throttled || ' of ' || steps || ' step samples were throttled and excluded'
FROM (
  SELECT
    s.run_id,
    max(s.count + s.excluded) AS steps,
    max(s.excluded) - coalesce(
      (
        SELECT sum(d.count) FROM dropped_record d
        WHERE d.run_id = s.run_id AND d.pass = 'time' AND d.source = 'suspended'
      ),
      0
    ) AS throttled
  FROM statistic s
  WHERE s.phase = 'step' AND s.all_throttled = 0
  GROUP BY s.run_id
) t
WHERE throttled > 0
UNION ALL
SELECT
  run_id,
  'suspended',
  'the run was suspended during '
  || CASE max(count) WHEN 1 THEN 'a step' ELSE max(count) || ' steps' END || ' of pass ' || pass
  || CASE pass WHEN 'time' THEN ', excluded from the statistics' ELSE '' END
FROM dropped_record
WHERE source = 'suspended'
GROUP BY run_id, pass
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
  printf(
    'the standard deviation of the step times is %.0f %% of their mean, %.4g ms; their median is %.4g ms',
    100 * std_ms / mean_ms, mean_ms, median_ms
  )
FROM phase_time
WHERE phase = 'step' AND status = 'ok' AND std_ms > 0.25 * mean_ms AND NOT (statistic = 'mean' AND unlike_steps <> '')
UNION ALL
SELECT
  run_id,
  'unlike steps',
  unlike_steps || '; the mean step takes ' || printf('%.4g', mean_ms) || ' ms, the median ' || printf('%.4g', median_ms)
  || ' ms'
FROM phase_time
WHERE phase = 'step' AND status = 'ok' AND statistic = 'mean' AND unlike_steps <> ''
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
  kind,
  detail
FROM warning
GROUP BY run_id, kind, detail
UNION ALL
SELECT
  a.run_id,
  'assumed steps',
  'it was assumed where ' || CASE sum(a.assumed) WHEN max(a.steps) THEN '' ELSE sum(a.assumed) || ' of ' END
  || CASE max(a.steps) WHEN 1 THEN '1 measured step begins: ' ELSE max(a.steps) || ' measured steps begin: ' END
  || group_concat(a.reason, '; ') || '; check that these are the iterations of the program'
FROM (
  SELECT
    m.run_id,
    substr(m.value, CASE WHEN m.value LIKE 'assumed: %' THEN 10 ELSE 1 END) AS reason,
    count(*) AS assumed,
    (
      SELECT count(*)
      FROM _measured_step x
      WHERE x.run_id = m.run_id AND x.rank = m.rank AND x.pass = m.pass
    ) AS steps,
    dense_rank() OVER (PARTITION BY m.run_id ORDER BY m.pass <> 'time', m.pass, m.rank) AS position
  FROM metric m
  JOIN _measured_step s ON s.run_id = m.run_id AND s.rank = m.rank AND s.pass = m.pass AND s.step = m.step
  WHERE m.name = 'assumed_step_boundary' AND m.level = 'step'
  GROUP BY m.run_id, m.rank, m.pass, m.value
  ORDER BY assumed DESC, reason
) a
WHERE a.position = 1
GROUP BY a.run_id
UNION ALL
SELECT
  m.run_id,
  'not observed',
  m.value
FROM metric m
WHERE m.name = 'not_observed' AND m.level = 'run'
GROUP BY m.run_id, m.value
UNION ALL
SELECT
  m.run_id,
  'other profiler',
  'the program used ' || m.value || ' during the steps of pass ' || m.pass || ', whose times contain its cost'
FROM metric m
JOIN run r ON r.run_id = m.run_id
WHERE m.name = 'other_profiler' AND m.level = 'run' AND r.timing = 'free'
GROUP BY m.run_id, m.pass, m.value
UNION ALL
SELECT
  run_id,
  'interference',
  CASE
    WHEN max(wait_share) IS NULL
      THEN printf('threads lost their processor %.0f times per second of processor time', max(switches_per_s))
    ELSE
      printf('a thread waited for a processor for %.0f %% of the measured time', 100 * max(wait_share))
  END
  || CASE WHEN max(load_average) IS NULL THEN '' ELSE printf('; the load average was %.1f', max(load_average)) END
  || CASE
    WHEN run_id IN (SELECT run_id FROM wide_time) THEN '; the time of a step is not reproducible'
    ELSE ''
  END
  || '; use fewer threads (OMP_NUM_THREADS=1) or an idle machine'
FROM disturbed
GROUP BY run_id
UNION ALL
SELECT
  run_id,
  'not reproducible',
  printf(
    'the confidence interval of the %s step, %.4g ms, is %.4g to %.4g ms; measure more steps, with fewer threads '
    || '(OMP_NUM_THREADS=1) or on an idle machine',
    statistic, time_ms, time_low_ms, time_high_ms
  )
FROM wide_time
WHERE run_id NOT IN (SELECT run_id FROM disturbed)
UNION ALL
SELECT
  run_id,
  'detached processes',
  CASE count WHEN 1 THEN '1 process' ELSE count || ' processes' END
  || ' left the process group of the worker and outlived it (' || pass || '), and '
  || CASE count WHEN 1 THEN 'was' ELSE 'were' END || ' killed: ' || detail
FROM dropped_record
WHERE source = 'detached'
UNION ALL
SELECT
  run_id,
  'dropped records',
  source || CASE WHEN pass = '' THEN '' ELSE ' (' || pass || ')' END || ': '
  || CASE WHEN min(count) < 0 THEN 'unknown number' ELSE CAST(sum(count) AS TEXT) END
  || CASE count(DISTINCT rank) WHEN 1 THEN '' ELSE ' on ' || count(DISTINCT rank) || ' ranks' END
  || CASE WHEN detail = '' THEN '' ELSE ', ' || detail END
FROM dropped_record
WHERE source NOT IN ('suspended', 'detached')
GROUP BY run_id, source, pass, detail;

-- Runs of the family `transformer` with their parameters.
CREATE VIEW transformer_run AS
SELECT
  -- run
  p.run_id,
  -- workload
  p.workload,
  -- name of the case within the suite
  p.suite_case,
  -- status
  p.status,
  -- cpu or cuda
  p.device_kind,
  -- number of warm-up steps
  p.warmup,
  -- index of the repetition (--repeat), from 0
  p.repetition,
  -- model size name
  p.size,
  -- sort order of the sizes
  p.size_order,
  -- tokens per sequence
  p.context,
  -- batch size
  p.batch,
  -- element type of weights and computation, or `bf16 autocast`, which computes in bf16 with weights in fp32
  CASE p.autocast WHEN 1 THEN 'bf16 autocast' ELSE p.dtype END AS precision,
  -- forward, forward_backward or train
  p.mode
FROM (
  SELECT
    r.run_id,
    r.workload,
    r.suite_case,
    r.status,
    r.device_kind,
    r.warmup,
    r.repetition,
    max(CASE WHEN q.name = 'size' THEN q.value END) AS size,
    max(CASE WHEN q.name = 'size' THEN q.choice END) AS size_order,
    max(CASE WHEN q.name = 'context' THEN q.value END) AS context,
    max(CASE WHEN q.name = 'batch' THEN q.value END) AS batch,
    max(CASE WHEN q.name = 'dtype' THEN q.value END) AS dtype,
    max(CASE WHEN q.name = 'autocast' THEN q.value END) AS autocast,
    max(CASE WHEN q.name = 'mode' THEN q.value END) AS mode
  FROM run r
  JOIN param q ON q.run_id = r.run_id
  WHERE r.family = 'transformer'
  GROUP BY r.run_id
) p;
