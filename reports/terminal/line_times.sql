-- SPDX-License-Identifier: Apache-2.0
-- The lines of Python code with the most time of rank 0.
-- column location: title="line"
-- column function: optional=true
-- column calls: title="calls/step", format="general", omit=1
-- column time_ms: title="time", unit="ms", prefix="auto", format="significant", digits=3
-- column backward_ms: title="of it backward", unit="ms", prefix="auto", format="significant", digits=3
-- column share: format="percent"
SELECT
  coalesce(l.location, '(unknown)') AS location,
  l.function,
  l.calls,
  l.ms AS time_ms,
  nullif(l.backward_ms, 0) AS backward_ms,
  l.share
FROM _line_summary l
WHERE l.run_id = :run AND l.ms > 0
ORDER BY l.ms DESC, l.location, l.function
LIMIT 10
