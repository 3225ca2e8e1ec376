-- SPDX-License-Identifier: Apache-2.0
-- caption: What the phases of a step consist of. On a GPU, their times are those of the GPU, which enters and leaves a
--   phase later than the host.
-- empty: No kernels or operators were recorded: `--passes trace` records kernels on a GPU, `--passes ops` operators.
-- On a GPU, kernels by class and the idle time between them; on a CPU, operators by class, and the time of a phase
-- outside of operators.
WITH entries AS (
  SELECT
    p.run_id,
    p.phase,
    p.class,
    sum(p.ms) AS ms
  FROM chosen c
  CROSS JOIN profile_entry p ON p.run_id = c.run_id AND p.rank = 0
  GROUP BY p.phase, p.class
),
spans AS (
  SELECT
    t.phase,
    t.pass,
    min(t.start_ns) AS start_ns,
    avg(t.host_ms) AS ms
  FROM chosen c
  CROSS JOIN pass_step_time t ON t.run_id = c.run_id AND t.rank = 0 AND t.warmup = 0 AND t.phase <> 'step'
  GROUP BY t.phase, t.pass
),
stacked AS (
  SELECT
    phase,
    class,
    ms
  FROM entries
  UNION ALL
  SELECT
    g.phase,
    'idle',
    g.idle_ms
  FROM chosen c
  CROSS JOIN launch_gap g ON g.run_id = c.run_id AND g.rank = 0 AND g.phase <> 'step'
  UNION ALL
  SELECT
    s.phase,
    'outside of operators',
    s.ms - coalesce((SELECT sum(e.ms) FROM entries e WHERE e.phase = s.phase), 0)
  FROM chosen c
  JOIN run r ON r.run_id = c.run_id AND r.device_kind = 'cpu'
  CROSS JOIN spans s ON s.pass = 'ops'
),
phases AS (
  SELECT
    k.phase,
    min(s.start_ns) AS start_ns
  FROM stacked k
  LEFT JOIN spans s ON s.phase = k.phase
  WHERE k.ms > 0
  GROUP BY k.phase
),
classes AS (
  SELECT
    class,
    class IN ('idle', 'outside of operators') AS is_last,
    sum(ms) AS total_ms
  FROM stacked
  WHERE ms > 0
  GROUP BY class
)
-- Every phase has every class, so that all bars have the same order: the longest class first.
SELECT
  p.phase,
  c.class,
  coalesce((SELECT sum(k.ms) FROM stacked k WHERE k.phase = p.phase AND k.class = c.class AND k.ms > 0), 0) AS ms
FROM phases p
CROSS JOIN classes c
ORDER BY p.phase = 'other', p.start_ns, c.is_last, c.total_ms DESC, c.class
