-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory of rank 0 around the optimizer step, by sharding scheme:
-- empty: No memory records of the sharded optimizer: `kymo suite run cs336 --filter sharding` adds this data.
SELECT
  m.setting,
  m.run_id || ' ' || m.marker AS bar,
  CASE m.marker
    WHEN 'model_ready' THEN 'model ready'
    WHEN 'optimizer_ready' THEN 'optimizer ready'
    WHEN 'before_optimizer' THEN 'before the update'
    ELSE 'after the update'
  END
  || ', ' || m.variant AS marker,
  c.key AS category,
  c.value / 1048576.0 AS mib
FROM selected_run s
JOIN sharding_memory m ON m.run_id = s.run_id AND m.rank = 0 AND m.allocated_bytes IS NOT NULL
JOIN
  json_each(
    json_object(
      'parameters', m.parameter_bytes,
      'gradients', m.gradient_bytes,
      'optimizer state', m.optimizer_state_bytes,
      'activations', m.activation_bytes,
      'other', m.other_bytes
    )
  ) c
ORDER BY
  m.setting,
  c.id,
  m.marker_order,
  m.scheme_order,
  s.run_id
