-- SPDX-License-Identifier: Apache-2.0
-- caption: Why the five operators with the longest time are not faster, in the first and the last variant.
-- column variant: title="variant"
-- column operator: title="operator", format="code"
-- column module: title="module", format="code"
-- column phase: title="phase", format="code"
-- column time_ms: title="time", unit="ms", format="significant", digits=3
-- column intensity: title="intensity", unit="FLOP/B", format="significant", digits=3
-- column attained: title="of the roofline", unit="%", digits=1
-- column verdict: title="verdict"
-- column reason: title="reason"
-- note: Per step, whole calls with what they called. 100 % of the roofline is the time that the measured peaks of the
--   device allow for the operations and the minimum bytes; above it, operands came from a cache.
-- empty: No operators with arguments.
WITH ranked AS (
  SELECT
    v.*,
    o.variant,
    row_number() OVER (PARTITION BY v.run_id ORDER BY v.time_ms DESC, v.name, v.module, v.arguments) AS position
  FROM observed o
  JOIN op_verdict v ON v.run_id = o.run_id AND v.rank = 0 AND v.pass = 'ops'
)
SELECT
  variant,
  name AS operator,
  module,
  phase,
  time_ms,
  flop_rate / nullif(byte_rate, 0) AS intensity,
  100 * attained AS attained,
  verdict,
  reason || CASE next_step WHEN '' THEN '' ELSE '; would decide: ' || next_step END AS reason
FROM ranked
WHERE position <= 5
ORDER BY run_id, position
