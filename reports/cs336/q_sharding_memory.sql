-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory of the rank with the most, by scheme and moment.
-- column setting: title="configuration", once=true
-- column scheme: title="scheme", format="code"
-- column moment: title="moment"
-- column parameters: title="parameters", format="bytes"
-- column gradients: title="gradients", format="bytes"
-- column state: title="optimizer state", format="bytes"
-- column activations: title="activations", format="bytes"
-- column other: title="other", format="bytes"
-- column total: title="total", format="bytes"
-- column peak: title="peak until then", format="bytes"
-- note: At the workload's markers. Before and after the step: around the optimizer update of the first measured step.
--   Peak until then: the most allocated since the moment before; that before the step includes forward and backward.
-- empty: Not in this database: `kymo suite run cs336 --filter '^sharding'` adds this data; it needs one GPU per
--   process, or `--profile small` on a CPU.
SELECT
  p.setting,
  p.variant AS scheme,
  CASE m.marker
    WHEN 'model_ready' THEN 'model ready'
    WHEN 'optimizer_ready' THEN 'after initialization'
    WHEN 'before_optimizer' THEN 'before the step'
    WHEN 'after_optimizer' THEN 'after the step'
    ELSE d.status_label
  END AS moment,
  max(m.parameter_bytes) AS parameters,
  max(m.gradient_bytes) AS gradients,
  max(m.optimizer_state_bytes) AS state,
  max(m.activation_bytes) AS activations,
  max(m.other_bytes) AS other,
  max(m.allocated_bytes) AS total,
  max(m.peak_bytes) AS peak
FROM selected_run s
JOIN ddp_run p ON p.run_id = s.run_id AND p.family = 'optimizer_sharding'
JOIN run_status d ON d.run_id = s.run_id
LEFT JOIN sharding_memory m ON m.run_id = s.run_id
WHERE m.run_id IS NOT NULL OR d.status_label <> ''
GROUP BY s.run_id, p.setting, p.variant, m.marker
ORDER BY p.setting, p.scheme_order, s.run_id, m.marker_order
