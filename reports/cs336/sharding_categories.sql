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
  c.category,
  CASE c.category_order
    WHEN 0 THEN m.parameter_bytes
    WHEN 1 THEN m.gradient_bytes
    WHEN 2 THEN m.optimizer_state_bytes
    WHEN 3 THEN m.activation_bytes
    ELSE m.other_bytes
  END
  / 1048576.0 AS mib
FROM selected_run s
JOIN sharding_memory m ON m.run_id = s.run_id AND m.rank = 0 AND m.allocated_bytes IS NOT NULL
JOIN (
  SELECT
    0 AS category_order,
    'parameters' AS category
  UNION ALL
  SELECT
    1,
    'gradients'
  UNION ALL
  SELECT
    2,
    'optimizer state'
  UNION ALL
  SELECT
    3,
    'activations'
  UNION ALL
  SELECT
    4,
    'other'
) c
ORDER BY
  m.setting,
  c.category_order,
  m.marker_order,
  m.scheme_order,
  s.run_id
