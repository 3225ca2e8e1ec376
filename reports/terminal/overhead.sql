-- SPDX-License-Identifier: Apache-2.0
-- The slowdown of passes that record events.
SELECT
  o.pass,
  o.ratio,
  o.observed_ms,
  o.time_ms,
  o.summary
FROM trace_overhead o
WHERE o.phase = 'step' AND o.run_id = :run AND o.rank = (SELECT min(k.rank) FROM rank k WHERE k.run_id = :run)
ORDER BY o.pass
