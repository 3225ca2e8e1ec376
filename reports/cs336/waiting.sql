-- SPDX-License-Identifier: Apache-2.0
-- caption: What the calls between ranks consist of: waiting for the last rank, and the transfer.
-- column case_name: title="case"
-- column phase: title="called in", format="code"
-- column operation: title="operation", format="code"
-- column calls: title="calls per step", format="significant", digits=4
-- column launches: title="launches per step", format="significant", digits=4
-- column bytes: title="payload per step", format="bytes"
-- column wait: title="wait", unit="µs", format="significant", digits=3
-- column transfer: title="transfer", unit="µs", format="significant", digits=3
-- column wait_share: title="waiting", unit="%", digits=1
-- column clocks: title="clocks", unit="± µs", format="significant", digits=2
-- column busbw: title="busbw", unit="GB/s", format="significant", digits=3
-- column straggler: title="last rank", format="plain"
-- column straggler_share: title="how often", unit="%", digits=0
-- note: Means per launch over the measured steps of the trace, a launch being a call or a group of calls that share
--   their kernels, on clocks that were aligned. Wait: from a rank's begin to that of the last one, mean over ranks.
--   Transfer: from the last rank's begin to the last rank's end. Waits shorter than the clocks may err say nothing.
-- note: Last rank: the one that began last most often. A dash stands where some rank's begin or clock is unknown.
-- empty: No call between ranks was traced: `kymo suite run cs336 --filter 'collectives|ddp|sharding'` fills this table.
SELECT
  coalesce(p.strategy || ' (' || p.setting || ')', r.workload || ', ' || i.title) AS case_name,
  c.phase,
  c.operation,
  c.calls,
  c.launches,
  c.bytes,
  c.wait_us AS wait,
  c.transfer_us AS transfer,
  100 * c.wait_share AS wait_share,
  c.error_us AS clocks,
  c.busbw_gb_s AS busbw,
  c.straggler,
  100 * c.straggler_share AS straggler_share
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
JOIN run_title i ON i.run_id = r.run_id
JOIN collective_summary c ON c.run_id = r.run_id AND c.pass = 'trace'
LEFT JOIN ddp_run p ON p.run_id = r.run_id
ORDER BY r.run_id, c.communicator, c.phase, c.operation
