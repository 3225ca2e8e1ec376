-- SPDX-License-Identifier: Apache-2.0
-- caption: Why the five operators with the longest time are not faster, for the newest run of each workload with their
--   arguments.
-- column title: title="run", once=true
-- column operator: title="operator", format="code"
-- column module: title="module", format="code"
-- column time_ms: title="time", unit="ms", format="significant", digits=3
-- column attained: title="of the roofline", unit="%", digits=1
-- column verdict: title="verdict"
-- column reason: title="reason"
-- note: Per step, calls with the same arguments in the same phase, with what they called. 100 % of the roofline is the
--   time that the measured peaks of the device allow for the operations and the minimum bytes; above it, operands came
--   from a cache.
-- empty: No operators with arguments: add `--passes time,ops --trace-detail shapes` to the command. Available for
--   workloads that use LibTorch.
WITH ranked AS (
  SELECT
    s.title,
    v.*,
    max(v.run_id) OVER (PARTITION BY r.workload) AS newest_run_id,
    row_number() OVER (PARTITION BY v.run_id ORDER BY v.time_ms DESC, v.name, v.module, v.arguments) AS position
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  JOIN op_verdict v ON v.run_id = s.run_id AND v.rank = 0 AND v.pass = 'ops'
)
SELECT
  title,
  name AS operator,
  module,
  time_ms,
  100 * attained AS attained,
  verdict,
  reason || CASE next_step WHEN '' THEN '' ELSE '; would decide: ' || next_step END AS reason
FROM ranked
WHERE run_id = newest_run_id AND position <= 5
ORDER BY run_id, position
