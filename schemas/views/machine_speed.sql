-- SPDX-License-Identifier: Apache-2.0
-- Whether the machine was slower than usual while steps ran.

-- Time of the reference loop in each run. Runs without measurements of the loop have no row.
CREATE VIEW reference_loop_time AS
SELECT
  -- run
  run_id,
  -- number of measurements of the loop, between steps
  loops,
  -- time of the loop: lower median
  duration_ns AS loop_ns,
  -- shortest time of the loop
  fastest_ns
FROM (
  SELECT
    run_id,
    duration_ns,
    row_number() OVER (PARTITION BY run_id ORDER BY duration_ns) AS position,
    count(*) OVER (PARTITION BY run_id) AS loops,
    min(duration_ns) OVER (PARTITION BY run_id) AS fastest_ns
  FROM reference_loop
  WHERE rank = 0 AND pass = 'time'
)
WHERE position = (loops + 1) / 2;

-- How much slower the machine was during each run than in its best state in the runs of the same case, by the
-- reference loop: because of other processes on the same core, or a lower clock. Other cases may use more threads, or
-- other instructions, and thereby change the clock. Runs without measurements of the loop have no row.
CREATE VIEW machine_slowdown AS
WITH fastest AS (
  SELECT
    r.case_key,
    k.device_id,
    f.fastest_ns,
    row_number() OVER (PARTITION BY r.case_key, k.device_id ORDER BY f.fastest_ns) AS position,
    count(*) OVER (PARTITION BY r.case_key, k.device_id) AS runs
  FROM (
    SELECT
      run_id,
      min(duration_ns) AS fastest_ns
    FROM reference_loop
    WHERE pass = 'time' AND rank = 0
    GROUP BY run_id
  ) f
  JOIN run r ON r.run_id = f.run_id
  JOIN rank k ON k.run_id = f.run_id AND k.rank = 0 AND k.pass = 'time'
)
SELECT
  -- run
  t.run_id,
  -- number of measurements of the loop, between steps
  t.loops,
  -- time of the loop in the best state of the machine: the shortest that at least 5 % of the runs of the case reach
  b.fastest_ns AS best_ns,
  -- time of the loop: lower median
  t.loop_ns,
  -- loop_ns over best_ns
  1.0 * t.loop_ns / b.fastest_ns AS slowdown,
  -- number of measurements in which the machine was busy: longer than best_ns by more than 5 %
  (
    SELECT count(*)
    FROM reference_loop l
    WHERE l.run_id = t.run_id AND l.rank = 0 AND l.pass = 'time' AND l.duration_ns > 1.05 * b.fastest_ns
  ) AS busy_loops
FROM reference_loop_time t
JOIN run r ON r.run_id = t.run_id
JOIN rank k ON k.run_id = t.run_id AND k.rank = 0 AND k.pass = 'time'
JOIN fastest b ON b.case_key = r.case_key AND b.device_id = k.device_id AND b.position = 1 + b.runs / 20;

-- How much slower the machine was during each measured step of the time pass; see machine_slowdown.
CREATE VIEW step_slowdown AS
SELECT
  -- run
  run_id,
  -- step, warm-up steps included in the count
  step,
  -- elapsed time of the step on the host clock
  host_ns,
  -- 1 if the step is excluded from the statistics
  throttled,
  -- time of the loop over that in the best state: of the last measurement before the step and the first after it, the
  -- slower one
  max(coalesce(before_ns, after_ns), coalesce(after_ns, before_ns)) / (1.0 * best_ns) AS slowdown,
  -- 1 if the machine was busy: slower by more than 5 %
  max(coalesce(before_ns, after_ns), coalesce(after_ns, before_ns)) > 1.05 * best_ns AS is_busy
FROM (
  SELECT
    d.run_id,
    d.step,
    d.host_ns,
    d.throttled,
    m.best_ns,
    (
      SELECT l.duration_ns
      FROM reference_loop l
      WHERE l.run_id = d.run_id AND l.rank = 0 AND l.pass = 'time' AND l.step < d.step
      ORDER BY l.step DESC
      LIMIT 1
    ) AS before_ns,
    (
      SELECT l.duration_ns
      FROM reference_loop l
      WHERE l.run_id = d.run_id AND l.rank = 0 AND l.pass = 'time' AND l.step >= d.step
      ORDER BY l.step
      LIMIT 1
    ) AS after_ns
  FROM machine_slowdown m
  CROSS JOIN step_duration d
  WHERE d.run_id = m.run_id AND d.phase = 'step' AND d.warmup = 0
);
