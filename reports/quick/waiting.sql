-- SPDX-License-Identifier: Apache-2.0
-- caption: Wait and transfer times of collectives.
-- column case_name: title="run"
-- column phase: title="phase", format="code"
-- column operation: title="operation", format="code"
-- column calls: title="calls per step", format="significant", digits=4
-- column launches: title="launches per step", format="significant", digits=4
-- column bytes: title="bytes per step", format="bytes"
-- column wait_us: title="wait", unit="µs", format="significant", digits=3
-- column transfer_us: title="transfer", unit="µs", format="significant", digits=3
-- column wait_share: title="wait share", unit="%", digits=1
-- column clock_error_us: title="clock uncertainty", unit="± µs", format="significant", digits=2
-- column busbw: title="busbw", unit="GB/s", format="significant", digits=3
-- column straggler: title="last rank", format="plain"
-- column straggler_share: title="share of launches", unit="%", digits=0
-- note: Means per launch over the measured steps of the trace, on aligned clocks. A launch is a call or a group of
--   calls that share their kernels. Wait: from the start of a rank to the start of the last rank, mean over ranks.
--   Transfer: from the start of the last rank to the end of the last rank to finish. Waits below the clock uncertainty
--   are not significant.
-- note: busbw is per rank, as in nccl-tests, over the transfer time. Broadcasts of one launch can have several roots
--   and use the links in both directions: of n ranks, (n−1)/n of their bytes count, as of an all_gather. Their busbw is
--   a lower bound unless each rank is the root of an equal part.
-- note: Last rank: the rank that started last most often. – means: the start or the clock of a rank is unknown.
-- empty: No collectives traced: `kymo suite run quick` adds this data.
SELECT
  coalesce(p.strategy || ' (' || p.setting || ')', r.workload || ', ' || s.title) AS case_name,
  c.phase,
  c.operation,
  c.calls,
  c.launches,
  c.bytes,
  c.wait_us,
  c.transfer_us,
  100 * c.wait_share AS wait_share,
  c.clock_error_us AS clock_error_us,
  c.busbw_gb_s AS busbw,
  c.straggler,
  100 * c.straggler_share AS straggler_share
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN collective_summary c ON c.run_id = r.run_id AND c.pass = 'trace'
LEFT JOIN ddp_run p ON p.run_id = r.run_id
ORDER BY r.run_id, c.communicator, c.phase, c.operation
