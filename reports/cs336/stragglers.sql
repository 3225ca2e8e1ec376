-- SPDX-License-Identifier: Apache-2.0
-- caption: Which rank is late.
-- column case_name: title="case"
-- column rank: title="rank", format="plain"
-- column calls: title="calls", format="plain"
-- column last_share: title="last", unit="%", digits=1
-- column late: title="late by", unit="µs", format="significant", digits=3
-- column most: title="at most", unit="µs", format="significant", digits=3
-- column wait: title="waited", unit="µs", format="significant", digits=3
-- note: Late: after the first rank to begin, mean over calls. Waited: for the last one.
-- empty: No call between ranks could be compared: it takes a trace of every rank.
SELECT
  coalesce(p.strategy || ' (' || p.setting || ')', r.workload || ', ' || i.title) AS case_name,
  c.rank,
  c.calls,
  100 * c.last_share AS last_share,
  c.late_us AS late,
  c.max_late_us AS most,
  c.wait_us AS wait
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
JOIN run_title i ON i.run_id = r.run_id
JOIN collective_straggler c ON c.run_id = r.run_id AND c.pass = 'trace'
LEFT JOIN ddp_run p ON p.run_id = r.run_id
ORDER BY r.run_id, c.rank
