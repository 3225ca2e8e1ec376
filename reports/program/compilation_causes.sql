-- SPDX-License-Identifier: Apache-2.0
-- caption: Graph breaks, recompilations and failed compilations.
-- column kind: title="what"
-- column location: title="code", format="code"
-- column function: title="function", format="code"
-- column count: title="number", format="plain"
-- column steps: title="in steps", format="plain"
-- column ms: title="time", unit="ms", prefix="auto", format="significant", digits=3
-- column reason: title="reason"
-- empty: No graph breaks, recompilations or failed compilations.
SELECT
  replace(c.kind, '_', ' ') AS kind,
  c.location,
  c.function,
  c.count,
  c.steps,
  nullif(c.ms, 0) AS ms,
  CASE WHEN length(c.reason) > 160 THEN substr(c.reason, 1, 159) || '…' ELSE c.reason END AS reason
FROM compilation_cause c
WHERE c.run_id = (SELECT run_id FROM chosen) AND c.rank = 0
ORDER BY c.kind, c.count DESC, c.location, c.reason
LIMIT 20
