-- SPDX-License-Identifier: Apache-2.0
-- Variation between runs and comparison of labels.

-- How much a time varies, within runs and between repeated runs of the same case with the same build.
CREATE VIEW time_variation AS
SELECT
  -- runs with the same key are repetitions
  t.plan_key,
  -- label
  t.label,
  -- workload
  t.workload,
  -- name of the case within the suite, or empty
  t.suite_case,
  -- newest of these runs
  t.newest_run_id,
  -- phase, or `step` for the whole step
  t.phase,
  -- host or device
  t.clock,
  -- number of runs with status ok
  t.runs,
  -- what represents the runs: `mean` if it represents more than half of them, otherwise `median`; see phase_time
  t.statistic,
  -- mean over the runs of this statistic
  t.mean_ms,
  -- coefficient of variation of the samples of a run: standard deviation over mean; mean over the runs
  t.cv_within_runs,
  -- difference of the largest and the smallest value of a run, over mean_ms; NULL for one run
  CASE WHEN t.runs > 1 THEN (t.largest_ms - t.smallest_ms) / nullif(t.mean_ms, 0) END AS spread_between_runs
FROM (
  SELECT
    plan_key,
    label,
    workload,
    suite_case,
    max(run_id) AS newest_run_id,
    phase,
    clock,
    count(*) AS runs,
    statistic,
    avg(CASE statistic WHEN 'mean' THEN mean_ms ELSE median_ms END) AS mean_ms,
    min(CASE statistic WHEN 'mean' THEN mean_ms ELSE median_ms END) AS smallest_ms,
    max(CASE statistic WHEN 'mean' THEN mean_ms ELSE median_ms END) AS largest_ms,
    avg(std_ms / nullif(mean_ms, 0)) AS cv_within_runs
  FROM (
    SELECT
      run_id,
      plan_key,
      label,
      workload,
      suite_case,
      phase,
      clock,
      mean_ms,
      std_ms,
      median_ms,
      CASE
        WHEN 2 * sum(statistic = 'mean') OVER same_case > count(*) OVER same_case THEN 'mean' ELSE 'median'
      END AS statistic
    FROM phase_time
    WHERE status = 'ok'
    WINDOW same_case AS (PARTITION BY plan_key, label, workload, suite_case, phase, clock)
  ) p
  GROUP BY plan_key, label, workload, suite_case, phase, clock
) t;

-- The same case under two labels: the median over the runs of each label's newest invocation, and their ratio. Each run
-- counts with its mean or its median (`statistic`). Select both labels: WHERE baseline = 'before' AND label = 'after'.
-- `kymo compare` tests whether the difference is significant.
CREATE VIEW label_comparison AS
WITH newest AS (
  SELECT
    k.*,
    dense_rank() OVER (PARTITION BY k.settings_key, k.label ORDER BY k.start_order DESC) AS age
  FROM run_order k
  JOIN run r ON r.run_id = k.run_id
  WHERE r.status = 'ok'
),
ordered AS (
  SELECT
    n.settings_key,
    n.label,
    t.run_id,
    t.workload,
    t.suite_case,
    t.phase,
    t.clock,
    t.statistic,
    t.mean_ms,
    t.median_ms,
    row_number() OVER (PARTITION BY n.settings_key, n.label, t.phase, t.clock ORDER BY t.median_ms) AS position,
    row_number() OVER (PARTITION BY n.settings_key, n.label, t.phase, t.clock ORDER BY t.mean_ms) AS mean_position,
    count(*) OVER (PARTITION BY n.settings_key, n.label, t.phase, t.clock) AS runs
  FROM newest n
  JOIN phase_time t ON t.run_id = n.run_id
  WHERE n.age = 1
),
summary AS (
  SELECT
    settings_key,
    label,
    workload,
    suite_case,
    phase,
    clock,
    max(run_id) AS run_id,
    max(runs) AS runs,
    2 * sum(statistic = 'mean') > count(*) AS needs_mean,
    avg(CASE WHEN position IN ((runs + 1) / 2, (runs + 2) / 2) THEN median_ms END) AS median_ms,
    avg(CASE WHEN mean_position IN ((runs + 1) / 2, (runs + 2) / 2) THEN mean_ms END) AS mean_ms
  FROM ordered
  GROUP BY settings_key, label, workload, suite_case, phase, clock
),
pair AS (
  SELECT
    a.label AS baseline,
    a.run_id AS baseline_run_id,
    a.runs AS baseline_runs,
    b.label,
    b.workload,
    b.suite_case,
    b.phase,
    b.clock,
    b.run_id,
    b.runs,
    CASE WHEN a.needs_mean OR b.needs_mean THEN 'mean' ELSE 'median' END AS statistic,
    CASE WHEN a.needs_mean OR b.needs_mean THEN a.mean_ms ELSE a.median_ms END AS baseline_ms,
    CASE WHEN a.needs_mean OR b.needs_mean THEN b.mean_ms ELSE b.median_ms END AS label_ms
  FROM summary a
  JOIN summary b
    ON b.settings_key = a.settings_key AND b.phase = a.phase AND b.clock = a.clock AND b.label <> a.label
)
SELECT
  -- label that is compared with
  p.baseline,
  -- label that is compared
  p.label,
  -- workload
  p.workload,
  -- name of the case within the suite, or empty
  p.suite_case,
  -- all parameters in one line, sorted by name
  c.parameters,
  -- phase, or `step` for the whole step
  p.phase,
  -- host or device
  p.clock,
  -- newest run of the baseline
  p.baseline_run_id,
  -- newest run of the label
  p.run_id,
  -- number of runs of the baseline
  p.baseline_runs,
  -- number of runs of the label
  p.runs,
  -- with which each run counts: `mean` if it represents more than half of the runs of either label, otherwise `median`;
  -- see phase_time
  p.statistic,
  -- time of the baseline
  p.baseline_ms,
  -- time of the label
  p.label_ms,
  -- time of the label over time of the baseline: above 1 is slower
  p.label_ms / nullif(p.baseline_ms, 0) AS ratio
FROM pair p
JOIN run_list c ON c.run_id = p.run_id;
