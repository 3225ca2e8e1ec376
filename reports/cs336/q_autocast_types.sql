-- SPDX-License-Identifier: Apache-2.0
-- caption: Data types under autocast, as recorded.
-- pivot autocast: values=["type"]
-- column part: title="part"
-- column type: title="{}"
-- empty: Not in this database: `kymo suite run cs336 --filter '^autocast-types'` adds this data.
SELECT
  CASE m.name
    WHEN 'parameters_dtype' THEN 'parameters'
    WHEN 'first_layer_dtype' THEN 'output of the first linear layer'
    WHEN 'layer_norm_dtype' THEN 'output of the layer norm'
    WHEN 'logits_dtype' THEN 'logits'
    WHEN 'loss_dtype' THEN 'loss'
    ELSE 'gradients of the parameters'
  END AS part,
  p.value || ' autocast, ' || r.device_kind AS autocast,
  -- the same for every rank and repetition on a device
  max(m.value) AS type
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.family = 'autocast_types' AND r.status = 'ok'
JOIN run_parameter p ON p.run_id = r.run_id AND p.name = 'dtype'
JOIN reported_metric m ON m.run_id = r.run_id AND m.pass = 'time' AND m.name LIKE '%_dtype'
GROUP BY m.name, p.value, r.device_kind
ORDER BY min(m.sequence), p.choice
