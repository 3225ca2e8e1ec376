-- SPDX-License-Identifier: Apache-2.0
-- What was compiled repeatedly or left out.
-- column kind: title="compilation"
-- column location: title="code"
-- column count: title="number"
-- column steps: title="in steps", omit=1
SELECT
  replace(c.kind, '_', ' ') AS kind,
  c.location,
  c.count,
  c.steps,
  c.reason
FROM compilation_cause c
WHERE c.run_id = :run AND c.rank = (SELECT min(k.rank) FROM rank k WHERE k.run_id = :run)
ORDER BY c.kind, c.count DESC, c.location, c.reason
LIMIT 10
