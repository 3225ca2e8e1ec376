-- SPDX-License-Identifier: Apache-2.0
-- caption: Measurement settings by workload.
-- column workload: title="workload", format="code"
-- column warmup: title="warm-up steps"
-- column steps: title="measured steps"
-- column sync: title="sync after"
-- column passes: title="passes"
-- column runs: title="runs"
-- note: "by rule": steps were measured until the stopping rule (--until) was met.
-- empty: No runs.
SELECT
  r.workload,
  r.warmup,
  CASE r.steps WHEN 0 THEN 'by rule' ELSE r.steps END AS steps,
  r.sync,
  replace(r.passes, ',', ', ') AS passes,
  count(*) AS runs
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
GROUP BY r.workload, r.warmup, r.steps, r.sync, r.passes
ORDER BY min(r.run_id)
