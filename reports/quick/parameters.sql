-- SPDX-License-Identifier: Apache-2.0
-- caption: Parameters of each workload, with all values used.
-- column workload: title="workload", format="code"
-- column name: title="parameter", format="code"
-- column value: title="values"
-- empty: No parameters.
SELECT
  workload,
  name,
  group_concat(text, ', ') AS value
FROM (
  SELECT
    r.workload,
    p.name,
    p.text,
    min(r.run_id) AS first_run_id
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  JOIN run_parameter p ON p.run_id = r.run_id
  GROUP BY r.workload, p.name, p.text
  ORDER BY r.workload, p.name, first_run_id
)
GROUP BY workload, name
ORDER BY workload, name
