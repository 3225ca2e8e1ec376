-- SPDX-License-Identifier: Apache-2.0
-- caption: Collective operations per step.
-- column phase: title="phase", format="code"
-- column operation: title="operation", format="code"
-- column ranks: title="ranks", format="plain"
-- column calls: title="calls", format="significant", digits=3
-- column bytes: title="message bytes", format="bytes"
-- column transfer_ms: title="transfer", unit="ms", format="significant", digits=3
-- column wait_ms: title="wait", unit="ms", format="significant", digits=3
-- column busbw: title="busbw", unit="GB/s", format="significant", digits=3
-- column straggler: title="last rank", format="plain"
-- note: Wait: mean wait for the last rank to start; transfer: the rest. busbw is the bus bandwidth per rank as in
--   nccl-tests, over the transfer time; of several broadcasts, reduces, sends or receives in one group it is a lower
--   bound.
-- empty: No collective operations were recorded.
SELECT
  c.phase,
  c.operation,
  c.ranks,
  c.calls,
  c.bytes,
  c.transfer_ms,
  c.wait_ms,
  c.busbw_gb_s AS busbw,
  c.straggler
FROM collective_summary c
WHERE c.run_id = (SELECT run_id FROM chosen)
ORDER BY c.transfer_ms DESC, c.phase, c.operation
