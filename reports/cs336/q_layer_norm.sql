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
  FROM chosen c
  JOIN reported_metric m ON m.run_id = c.run_id AND m.pass = 'time'
)
SELECT
  substr(v.name, 13) AS type,
  v.value AS variance,
  (SELECT e.value FROM recorded e WHERE e.name = 'epsilon_' || substr(v.name, 13)) AS epsilon
FROM recorded v
WHERE v.name LIKE 'mean_square_%'
ORDER BY v.name DESC
