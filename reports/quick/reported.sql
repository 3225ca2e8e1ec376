-- SPDX-License-Identifier: Apache-2.0
-- caption: Figures that the workloads reported about themselves; of several values the mean.
-- column workload: title="workload", format="code"
-- column title: title="case"
-- column name: title="figure", format="code"
-- column value: title="value", align="right"
-- column unit: title="unit"
-- column count: title="values"
-- empty: No workload here reported a figure of its own.
SELECT r.workload, i.title, m.name || CASE WHEN m.phase = '' THEN '' ELSE ' (' || m.phase || ')' END AS name,
       CASE WHEN min(typeof(m.value)) IN ('integer', 'real') AND max(typeof(m.value)) IN ('integer', 'real') THEN avg(m.value) ELSE max(m.value) END AS value,
       nullif(m.unit, '') AS unit, count(*) AS count
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN run_title i ON i.run_id = r.run_id
JOIN metric m ON m.run_id = r.run_id AND m.pass = 'time'
GROUP BY r.run_id, m.phase, m.name, m.unit
ORDER BY r.run_id, min(m.sequence)
