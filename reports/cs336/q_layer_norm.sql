-- SPDX-License-Identifier: Apache-2.0
-- caption: Mean square of values with a standard deviation of 300, by type.
-- column type: title="type"
-- column variance: title="mean square"
-- column epsilon: title="relative step of the type", format="significant", digits=3
-- empty: Not in this database: `kymo suite run cs336 --filter '^autocast-types'` adds this data.
WITH recorded AS (
  SELECT
    m.name,
    m.value
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.family = 'autocast_types' AND r.status = 'ok'
  JOIN reported_metric m ON m.run_id = r.run_id AND m.pass = 'time'
  GROUP BY m.name
)
SELECT
  substr(v.name, 13) AS type,
  v.value AS variance,
  (SELECT e.value FROM recorded e WHERE e.name = 'epsilon_' || substr(v.name, 13)) AS epsilon
FROM recorded v
WHERE v.name LIKE 'mean_square_%'
ORDER BY v.name DESC
