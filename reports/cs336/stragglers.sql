-- SPDX-License-Identifier: Apache-2.0
-- caption: Stragglers by rank.
-- column case_name: title="run"
-- column rank: title="rank", format="plain"
-- column calls: title="calls", format="plain"
-- column last_share: title="started last", unit="%", digits=1
-- column late_us: title="mean delay", unit="µs", format="significant", digits=3
-- column max_late_us: title="max delay", unit="µs", format="significant", digits=3
-- column wait_us: title="mean wait", unit="µs", format="significant", digits=3
-- note: Delay: start relative to the first rank. Wait: for the last rank to start.
-- empty: No comparable collectives: requires a trace of every rank.
SELECT
  coalesce(p.strategy || ' (' || p.setting || ')', r.workload || ', ' || s.title) AS case_name,
  c.rank,
  c.calls,
  100 * c.last_share AS last_share,
  c.late_us AS late_us,
  c.max_late_us AS max_late_us,
  c.wait_us AS wait_us
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN collective_straggler c ON c.run_id = r.run_id AND c.pass = 'trace'
LEFT JOIN ddp_run p ON p.run_id = r.run_id
ORDER BY r.run_id, c.rank
