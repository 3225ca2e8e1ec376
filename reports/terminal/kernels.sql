-- SPDX-License-Identifier: Apache-2.0
-- The kernels with the most device time of the first rank that recorded some.
-- column name: title="kernel"
-- column class: hidden=true
-- column module: optional=true
-- column calls: title="calls/step", format="general", omit=1
-- column time_ms: title="device time", unit="ms", prefix="auto", format="significant", digits=3
-- column share: format="percent"
SELECT
  e.short_name AS name,
  min(e.class) AS class,
  e.module,
  e.phase,
  1.0 * sum(e.calls) / max(e.steps) AS calls,
  sum(e.total_ns) / 1e6 / max(e.steps) AS time_ms,
  1.0 * sum(e.total_ns) / sum(sum(e.total_ns)) OVER () AS share
FROM kernel_entry e
WHERE e.run_id = :run AND e.rank = (SELECT min(k.rank) FROM kernel_pass k WHERE k.run_id = :run)
GROUP BY e.short_name, e.module, e.phase
ORDER BY sum(e.total_ns) DESC
LIMIT 10
