-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory of each rank around the optimizer, by scheme.
-- column setting: title="case", once=true
-- column scheme: title="scheme", format="code"
-- column rank: title="rank", format="plain"
-- column moment: title="moment"
-- column parameter_bytes: title="parameters", format="bytes"
-- column gradient_bytes: title="gradients", format="bytes"
-- column optimizer_state_bytes: title="optimizer state", format="bytes"
-- column activation_bytes: title="activations", format="bytes"
-- column rest_bytes: title="rest", format="bytes"
-- column allocated_bytes: title="all", format="bytes"
-- column state_share: title="state of unsharded", unit="%", digits=1
-- note: Allocated sizes of live blocks. The update is that of the first measured step. Optimizer state comes into being
--   in the first update.
-- empty: The sharded optimizer's memory was not observed: `kymo suite run cs336 --filter sharding` fills this section.
SELECT
  m.setting,
  m.scheme,
  m.rank,
  CASE m.moment
    WHEN 'model_ready' THEN 'model ready'
    WHEN 'optimizer_ready' THEN 'optimizer ready'
    WHEN 'before_optimizer' THEN 'before the update'
    ELSE 'after the update'
  END AS moment,
  m.parameter_bytes,
  m.gradient_bytes,
  m.optimizer_state_bytes,
  m.activation_bytes,
  m.rest_bytes,
  m.allocated_bytes,
  100 * m.state_share AS state_share
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
JOIN sharding_memory m ON m.run_id = r.run_id
ORDER BY m.setting, CASE m.scheme WHEN 'none' THEN 0 WHEN 'broadcast' THEN 1 ELSE 2 END, r.run_id, m.rank, m.place
