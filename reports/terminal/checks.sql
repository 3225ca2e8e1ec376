-- SPDX-License-Identifier: Apache-2.0
-- The comparisons with references of each run, with their errors.
-- column workload: omit=2
-- column rank: omit=1
-- column name: title="compared"
-- column error: align="right", optional=true
-- column tolerance: align="right", optional=true
-- column reference: optional=true, omit=3
-- column detail: optional=true
SELECT
  r.value ->> 'run_id' AS run,
  r.value ->> 'workload' AS workload,
  c.value ->> 'rank' AS rank,
  c.value ->> 'name' AS name,
  c.value ->> 'outcome' AS outcome,
  iif(c.value ->> 'max_abs_error' IS NULL, NULL, printf('%.3g', c.value ->> 'max_abs_error')) AS error,
  iif(c.value ->> 'tolerance' IS NULL, NULL, printf('%.3g', c.value ->> 'tolerance')) AS tolerance,
  nullif(c.value ->> 'reference', '') AS reference,
  nullif(c.value ->> 'detail', '') AS detail
FROM json_each(:runs) r, json_each(r.value, '$.checks') c
