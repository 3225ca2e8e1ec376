-- SPDX-License-Identifier: Apache-2.0
-- caption: Collectives of the sharded optimizer by operation and scheme.
-- column setting: title="configuration", once=true
-- column scheme: title="scheme", format="code"
-- column phase: title="phase", format="code"
-- column operation: title="operation", format="code"
-- column calls: title="calls per step", format="significant", digits=4
-- column bytes: title="bytes per step", format="bytes"
-- column traffic_bytes: title="traffic per rank and step", format="bytes"
-- note: Bytes are those of the messages of one rank. Traffic: these bytes times the factor of busbw. Broadcasts count
--   in full, but (n−1)/n of n ranks if they are launched together.
-- empty: No collectives of the sharded optimizer traced: `kymo suite run cs336 --filter sharding` adds this data.
SELECT
  p.setting,
  p.variant AS scheme,
  c.phase,
  c.operation,
  c.calls,
  c.bytes,
  c.bus_bytes AS traffic_bytes
FROM selected_run s
JOIN ddp_run p ON p.run_id = s.run_id AND p.family = 'optimizer_sharding'
JOIN collective_summary c ON c.run_id = s.run_id AND c.pass = 'trace'
ORDER BY p.setting, p.scheme_order, s.run_id, c.phase, c.operation
