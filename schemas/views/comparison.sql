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
  -- mean over the runs of their medians
  t.mean_ms,
  -- coefficient of variation of the samples of a run: standard deviation over mean; mean over the runs
  t.cv_within_runs,
  -- difference of the largest and the smallest median of a run, over mean_ms; NULL for one run
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
    avg(median_ms) AS mean_ms,
    min(median_ms) AS smallest_ms,
    max(median_ms) AS largest_ms,
    avg(std_ms / nullif(mean_ms, 0)) AS cv_within_runs
  FROM phase_time
  WHERE status = 'ok'
  GROUP BY plan_key, label, workload, suite_case, phase, clock
) t;

-- The same case under two labels: the median over the runs of each label's newest invocation, and their ratio. Select
-- both labels: WHERE baseline = 'before' AND label = 'after'. `kymo compare` tests whether the difference is
-- significant.
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
    t.median_ms,
    row_number() OVER (PARTITION BY n.settings_key, n.label, t.phase, t.clock ORDER BY t.median_ms) AS position,
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
    avg(CASE WHEN position IN ((runs + 1) / 2, (runs + 2) / 2) THEN median_ms END) AS median_ms
  FROM ordered
  GROUP BY settings_key, label, workload, suite_case, phase, clock
)
SELECT
  -- label that is compared with
  a.label AS baseline,
  -- label that is compared
  b.label,
  -- workload
  b.workload,
  -- name of the case within the suite, or empty
  b.suite_case,
  -- all parameters in one line, sorted by name
  c.parameters,
  -- phase, or `step` for the whole step
  b.phase,
  -- host or device
  b.clock,
  -- newest run of the baseline
  a.run_id AS baseline_run_id,
  -- newest run of the label
  b.run_id,
  -- number of runs of the baseline
  a.runs AS baseline_runs,
  -- number of runs of the label
  b.runs,
  -- median of the baseline
  a.median_ms AS baseline_ms,
  -- median of the label
  b.median_ms,
  -- time of the label over time of the baseline: above 1 is slower
  b.median_ms / nullif(a.median_ms, 0) AS ratio
FROM summary a
JOIN summary b
  ON b.settings_key = a.settings_key AND b.phase = a.phase AND b.clock = a.clock AND b.label <> a.label
JOIN run_list c ON c.run_id = b.run_id;
