-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory of each rank around the optimizer step, by sharding scheme.
-- column setting: title="configuration", once=true
-- column scheme: title="scheme", format="code"
-- column rank: title="rank", format="plain"
-- column marker: title="marker"
-- column parameter_bytes: title="parameters", format="bytes"
-- column gradient_bytes: title="gradients", format="bytes"
-- column optimizer_state_bytes: title="optimizer state", format="bytes"
-- column activation_bytes: title="activations", format="bytes"
-- column other_bytes: title="other", format="bytes"
-- column allocated_bytes: title="total", format="bytes"
-- column state_share: title="optimizer state relative to unsharded", unit="%", digits=1
-- note: Allocated sizes of live blocks. Before and after the update: of the first measured step. Optimizer ready:
--   before the first step.
-- empty: No memory records of the sharded optimizer: `kymo suite run cs336 --filter sharding` adds this data.
SELECT
  m.setting,
  m.variant AS scheme,
  m.rank,
  CASE m.marker
    WHEN 'model_ready' THEN 'model ready'
    WHEN 'optimizer_ready' THEN 'optimizer ready'
    WHEN 'before_optimizer' THEN 'before the update'
    ELSE 'after the update'
  END AS marker,
  m.parameter_bytes,
  m.gradient_bytes,
  m.optimizer_state_bytes,
  m.activation_bytes,
  m.other_bytes,
  m.allocated_bytes,
  100 * m.state_share AS state_share
FROM selected_run s
JOIN sharding_memory m ON m.run_id = s.run_id
ORDER BY m.setting, m.scheme_order, s.run_id, m.rank, m.marker_order
