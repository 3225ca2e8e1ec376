-- SPDX-License-Identifier: Apache-2.0
-- caption: Why the five operators with the longest time are not faster.
-- column operator: title="operator", format="code"
-- column module: title="module", format="code"
-- column time_ms: title="time", unit="ms", format="significant", digits=3
-- column attained: title="of the roofline", unit="%", digits=1
-- column verdict: title="verdict"
-- column reason: title="reason"
-- note: Per step, calls with the same arguments in the same phase, with what they called. 100 % of the roofline is the
--   time that the measured peaks of the device allow (`kymo peaks`).
-- empty: No operators with arguments: `--trace-detail shapes` records them.
SELECT
  v.name AS operator,
  v.module,
  v.time_ms,
  100 * v.attained AS attained,
  v.verdict,
  v.reason || CASE v.next_step WHEN '' THEN '' ELSE '; would decide: ' || v.next_step END AS reason
FROM op_verdict v
WHERE v.run_id = (SELECT run_id FROM chosen) AND v.rank = 0 AND v.pass = 'ops'
ORDER BY v.time_ms DESC, v.name, v.module, v.arguments
LIMIT 5
