-- SPDX-License-Identifier: Apache-2.0
-- The metrics that a run reported.
-- column bytes: format="bytes"
-- column value: format="general"
WITH reported AS MATERIALIZED (
  SELECT
    m.key AS name,
    m.value ->> 'value' AS value,
    m.value ->> 'unit' AS unit
  FROM json_each(:runs) r, json_each(r.value, '$.metrics') m
)
SELECT
  m.name,
  iif(m.unit IN ('B', 'bytes') AND typeof(m.value) <> 'text', m.value, NULL) AS bytes,
  iif(m.unit IN ('B', 'bytes') AND typeof(m.value) <> 'text', NULL, m.value) AS value,
  iif(m.unit IN ('B', 'bytes') OR typeof(m.value) = 'text', NULL, m.unit) AS unit
FROM reported m
