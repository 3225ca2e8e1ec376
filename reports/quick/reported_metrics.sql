-- SPDX-License-Identifier: Apache-2.0
-- caption: Metrics reported by the workloads, over all runs.
-- column workload: title="workload", format="code"
-- column name: title="metric", format="code"
-- column low: title="min", align="right"
-- column high: title="max", align="right"
-- column unit: title="unit"
-- column runs: title="runs"
-- empty: No workload reported metrics.
SELECT
  r.workload,
  m.name || CASE WHEN m.phase = '' THEN '' ELSE ' (' || m.phase || ')' END AS name,
  CASE
    WHEN min(m.value) = CAST(min(m.value) AS INTEGER) AND typeof(min(m.value)) = 'real'
      THEN CAST(min(m.value) AS INTEGER)
    ELSE min(m.value)
  END AS low,
  CASE
    WHEN max(m.value) = CAST(max(m.value) AS INTEGER) AND typeof(max(m.value)) = 'real'
      THEN CAST(max(m.value) AS INTEGER)
    ELSE max(m.value)
  END AS high,
  nullif(m.unit, '') AS unit,
  count(DISTINCT r.run_id) AS runs
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN reported_metric m ON m.run_id = r.run_id AND m.pass = 'time'
GROUP BY r.workload, m.phase, m.name, m.unit
ORDER BY min(r.run_id), min(m.sequence)
