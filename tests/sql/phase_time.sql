-- SPDX-License-Identifier: Apache-2.0
-- The device clock takes precedence; the whole step has only host times.
UPDATE run SET ranks = 2, suite = 'quick', suite_case = 'small', repetition = 3, label = 'l' WHERE run_id = 1;
INSERT INTO statistic (
  run_id, phase, clock, count, excluded, all_throttled, mean_ns, std_ns, median_ns, min_ns, max_ns, ci_low_ns,
  ci_high_ns, p95_ns, median_low_ns, median_high_ns, median_confidence
) VALUES
(1, 'step', 'host', 100, 0, 0, 9e6, 1e6, 9e6, 8e6, 10e6, 8.5e6, 9.5e6, 9.9e6, 8.7e6, 9.2e6, 0.96),
(1, 'forward', 'host', 3, 0, 0, 5e6, 1e6, 5e6, 5e6, 5e6, NULL, NULL, NULL, NULL, NULL, NULL),
(1, 'forward', 'device', 3, 2, 0, 2e6, NULL, 2e6, 2e6, 2e6, NULL, NULL, NULL, NULL, NULL, NULL),
(2, 'step', 'host', 3, 0, 1, 1e6, 0, 1e6, 1e6, 1e6, NULL, NULL, NULL, 1e6, 1e6, 0.75);
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
  p95_ms,
  excluded,
  all_throttled
FROM phase_time
ORDER BY run_id, phase;
