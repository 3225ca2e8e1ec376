-- SPDX-License-Identifier: Apache-2.0
-- The full step whose saved tensors are shown: of the largest model, in fp32, preferably without checkpoints.
SELECT
  m.run_id,
  m.size || ', context ' || m.context || ', ' || m.precision AS setting,
  m.batch * m.context AS tokens,
  CASE m.precision WHEN 'fp32' THEN 4 WHEN 'bf16 autocast' THEN 4 ELSE 2 END AS element_bytes,
  max(CASE x.name WHEN 'd_model' THEN x.value END) AS d_model,
  max(CASE x.name WHEN 'd_ff' THEN x.value END) AS d_ff
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.status = 'ok' AND m.mode <> 'forward'
JOIN saved_memory k ON k.run_id = m.run_id AND k.rank = 0 AND k.pass = 'memory' AND k.nested = 0
JOIN reported_metric x ON x.run_id = m.run_id AND x.rank = 0
LEFT JOIN run_parameter c ON c.run_id = m.run_id AND c.name = 'checkpoint'
WHERE coalesce(c.text, 'none') = 'none'
GROUP BY m.run_id
HAVING d_model IS NOT NULL
ORDER BY m.precision = 'fp32' DESC, m.size_order DESC, m.context DESC, m.run_id DESC
LIMIT 1
