-- SPDX-License-Identifier: Apache-2.0
-- caption: Implementations and their verification.
-- column title: title="implementation"
-- column file: title="file of the plugin", format="code"
-- column checks: title="checks passed"
-- column error: title="largest error", format="significant", digits=2
-- column tolerance: title="tolerance", format="significant", digits=2
-- column reference: title="reference"
-- note: File: the plugin as built; its source is the folder or file of the same name. Errors are maximum absolute
--   differences.
-- empty: Not in this database: `kymo suite run cs336 --filter verified` adds this data.
WITH checked AS (
  SELECT
    r.run_id,
    r.plugin_id,
    x.title AS title,
    x.family_order,
    v.name,
    v.outcome,
    v.max_abs_error,
    v.tolerance,
    v.reference
  FROM verified v
  JOIN run r ON r.run_id = v.run_id
  JOIN run_series x ON x.run_id = r.run_id
)
SELECT
  c.title,
  replace(p.file, rtrim(p.file, replace(p.file, '/', '')), '') AS file,
  sum(c.outcome = 'passed') || ' of ' || count(*) AS checks,
  max(c.max_abs_error) AS error,
  max(c.tolerance) AS tolerance,
  c.reference
FROM checked c
JOIN plugin p ON p.plugin_id = c.plugin_id
GROUP BY c.title, p.file, c.reference
ORDER BY min(c.family_order), c.title, c.reference
