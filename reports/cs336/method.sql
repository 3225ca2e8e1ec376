-- SPDX-License-Identifier: Apache-2.0
-- caption: Measurement settings by case.
-- column suite_case: title="case", format="code"
-- column warmup: title="warm-up steps"
-- column steps: title="measured steps"
-- column timing: title="timing", format="code"
-- column sync: title="sync after"
-- column passes: title="passes"
-- column runs: title="runs"
-- note: A range of steps: each run measured until a time (--min-time) or a precision (--until) was reached.
-- empty: No runs of the suite `cs336`.
SELECT
  r.suite_case,
  r.warmup,
  CASE
    WHEN r.steps > 0 THEN r.steps
    WHEN min(t.count + t.excluded) = max(t.count + t.excluded) THEN min(t.count + t.excluded)
    ELSE min(t.count + t.excluded) || '–' || max(t.count + t.excluded)
  END AS steps,
  r.timing,
  r.sync,
  replace(r.passes, ',', ', ') AS passes,
  count(*) AS runs
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
LEFT JOIN phase_time t ON t.run_id = r.run_id AND t.phase = 'step'
GROUP BY r.suite_case, r.warmup, r.steps, r.timing, r.sync, r.passes
ORDER BY min(r.run_id)
