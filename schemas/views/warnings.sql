-- SPDX-License-Identifier: Apache-2.0
-- What to know before the numbers of a run are used.

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
  -- `suspended`, `no kernel records`, `executed work` (counted and declared operations of a step differ by more than
  -- 2 %), `detached processes` or `dropped records`
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
  'executed work',
  detail
FROM (
  SELECT
    r.run_id,
    (
      SELECT e.sentence
      FROM _executed_work e
      WHERE e.run_id = r.run_id AND e.phase = 'step' AND e.is_warning
    ) AS detail
  FROM run r
  WHERE EXISTS (SELECT 1 FROM hardware_count h WHERE h.run_id = r.run_id)
)
WHERE detail IS NOT NULL
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
