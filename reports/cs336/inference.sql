-- SPDX-License-Identifier: Apache-2.0
-- caption: Forward time in inference and in training.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column precision: title="precision"
-- column forward_ms: title="inference", unit="ms", format="measured", plus_minus="forward_std_ms"
-- column training_ms: title="training", unit="ms", format="measured", plus_minus="training_std_ms"
-- column ratio: title="inference / training", digits=2
-- empty: The case `timing-inference` of the suite `cs336` was not run.
SELECT
  m.size,
  m.context,
  m.precision,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE f.mean_ms END AS forward_ms,
  f.std_ms AS forward_std_ms,
  t.mean_ms AS training_ms,
  t.std_ms AS training_std_ms,
  CASE WHEN d.status_label = '' THEN f.mean_ms / t.mean_ms END AS ratio
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case IN ('inference', 'timing-inference')
JOIN run_status d ON d.run_id = m.run_id
LEFT JOIN phase_time f ON f.run_id = m.run_id AND f.phase = 'forward'
LEFT JOIN (
  SELECT
    n.size,
    n.context,
    n.batch,
    n.precision,
    n.device_kind,
    min(n.run_id) AS run_id
  FROM selected_run y
  JOIN transformer_run n ON n.run_id = y.run_id AND n.suite_case = 'timing' AND n.status = 'ok'
  GROUP BY n.size, n.context, n.batch, n.precision, n.device_kind
) k
  ON k.size = m.size
  AND k.context = m.context
  AND k.batch = m.batch
  AND k.precision = m.precision
  AND k.device_kind = m.device_kind
LEFT JOIN phase_time t ON t.run_id = k.run_id AND t.phase = 'forward'
ORDER BY m.size_order, m.size, m.context, m.precision, m.run_id
