-- SPDX-License-Identifier: Apache-2.0
-- caption: Environment.
-- column name: title="property"
-- column value: title="value"
-- empty: No environment recorded.
SELECT DISTINCT
  e.name,
  e.value
FROM environment_fact e
WHERE
  e.invocation_id IN (
    SELECT r.invocation_id
    FROM selected_run s
    JOIN run r ON r.run_id = s.run_id
  )
ORDER BY e.name, e.value
