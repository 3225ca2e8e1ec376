-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory of rank zero around the optimizer, by scheme:
-- empty: The sharded optimizer's memory was not observed: `kymo suite run quick` fills this section.
SELECT
  m.setting,
  m.run_id || ' ' || m.moment AS bar,
  CASE m.moment
    WHEN 'model_ready' THEN 'model ready'
    WHEN 'optimizer_ready' THEN 'optimizer ready'
    WHEN 'before_optimizer' THEN 'before the update'
    ELSE 'after the update'
  END
  || ', ' || m.scheme AS moment,
  c.category,
  CASE c.place
    WHEN 0 THEN m.parameter_bytes
    WHEN 1 THEN m.gradient_bytes
    WHEN 2 THEN m.optimizer_state_bytes
    WHEN 3 THEN m.activation_bytes
    ELSE m.rest_bytes
  END
  / 1048576.0 AS mib
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN sharding_memory m ON m.run_id = r.run_id AND m.rank = 0 AND m.allocated_bytes IS NOT NULL
JOIN (
  SELECT
    0 AS place,
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
    'rest'
) c
ORDER BY m.setting, c.place, m.place, CASE m.scheme WHEN 'none' THEN 0 WHEN 'broadcast' THEN 1 ELSE 2 END, r.run_id
