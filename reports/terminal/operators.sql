-- SPDX-License-Identifier: Apache-2.0
-- The operators with the most self time of the first rank that recorded some.
-- column name: title="operator"
-- column module: optional=true
-- column calls: title="calls/step", format="general", omit=1
-- column time_ms: title="self time", unit="ms", prefix="auto", format="significant", digits=3
-- column share: format="percent"
SELECT
  o.name,
  o.module,
  o.phase,
  sum(o.calls) AS calls,
  sum(o.self_ms) AS time_ms,
  sum(o.share_of_step) AS share
FROM op_by_scope o
WHERE
  o.pass = 'ops'
  AND o.run_id = :run
  AND o.rank = (SELECT min(k.rank) FROM rank k WHERE k.pass = 'ops' AND k.run_id = :run)
GROUP BY o.name, o.module, o.phase
ORDER BY sum(o.self_ms) DESC
LIMIT 10
