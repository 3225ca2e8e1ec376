-- SPDX-License-Identifier: Apache-2.0
-- The device clock takes precedence; the whole step has only host times.
UPDATE run SET ranks = 2, suite = 'quick', suite_case = 'small', repetition = 3, label = 'l' WHERE run_id = 1;
INSERT INTO statistic (
  run_id, phase, clock, count, excluded, all_throttled, mean_ns, std_ns, median_ns, min_ns, max_ns, ci_low_ns,
  ci_high_ns,
  p95_ns,
  median_low_ns,
  median_high_ns,
  median_confidence,
  block_steps,
  represented_by,
  slow_count,
  slow_ns,
  fast_count, fast_ns
) VALUES
(
  1, 'step', 'host', 100, 0, 0, 9e6, 1e6, 9e6, 8e6, 10e6, 8.5e6, 9.5e6, 9.9e6, 8.7e6, 9.2e6, 0.96, 2, 'median', 0, 0, 0,
  0
),
(
  1, 'forward', 'host', 3, 0, 0, 5e6, 1e6, 5e6, 5e6, 5e6, NULL, NULL, NULL, NULL, NULL, NULL, 1, 'median', 0, 0, 0, 0
),
(
  1, 'forward', 'device', 3, 2, 0, 2e6, NULL, 2e6, 2e6, 2e6, NULL, NULL, NULL, NULL, NULL, NULL, 1, 'median', 0, 0, 0, 0
),
(
  2, 'step', 'host', 3, 0, 1, 1e6, 0, 1e6, 1e6, 1e6, NULL, NULL, NULL, 1e6, 1e6, 0.75, NULL, NULL, NULL, NULL, NULL,
  NULL
),
-- nine steps of 2 ms and one of 80 ms, repeated; the opposite; few steps of a wide distribution; an old program run
(
  3, 'step', 'host', 60, 0, 0, 9.8e6, 2.3e7, 2e6, 2e6, 8e7, 9e6, 10.5e6, NULL, 1.9e6, 2.1e6, 0.96, 7, 'mean', 6, 4.8e8,
  0, 0
),
(
  3, 'forward', 'host', 60, 0, 0, 7e6, 4e6, 10e6, 1e6, 10e6, 6e6, 8e6, NULL, 10e6, 10e6, 0.96, 7, 'mean', 0, 0, 20,
  2e7
),
(
  3, 'backward', 'host', 60, 0, 0, 1.2e6, 2e5, 1e6, 1e6, 1.4e6, 1.1e6, 1.3e6, NULL, 1e6, 1e6, 0.96, 7, 'mean', 0, 0, 0,
  0
),
(
  4, 'step', 'host', 60, 0, 0, 9.8e6, 2.3e7, 2e6, 2e6, 8e7, 9e6, 10.5e6, NULL, 1.9e6, 2.1e6, 0.96, NULL, NULL, NULL,
  NULL, NULL, NULL
);
UPDATE run SET timing = 'free' WHERE run_id = 4;
SELECT
  run_id,
  suite,
  suite_case,
  label,
  repetition,
  ranks,
  phase,
  clock,
  count,
  mean_ms,
  std_ms,
  median_ms,
  median_low_ms,
  median_high_ms,
  median_confidence,
  min_ms,
  max_ms,
  ci_low_ms,
  ci_high_ms,
  block_steps,
  statistic,
  time_ms,
  time_low_ms,
  time_high_ms,
  slow_share,
  slow_time_share,
  fast_share,
  fast_time_share,
  unlike_steps,
  p95_ms,
  excluded,
  all_throttled
FROM phase_time
ORDER BY run_id, phase;
