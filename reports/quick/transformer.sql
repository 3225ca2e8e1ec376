-- SPDX-License-Identifier: Apache-2.0
-- caption: Phase times of the Transformer language model.
-- column implementation: title="implementation"
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column batch: title="batch"
-- column precision: title="precision"
-- column device: title="device"
-- column forward_ms: title="forward", unit="ms", format="measured", plus_minus="forward_std_ms"
-- column backward_ms: title="backward", unit="ms", format="measured", plus_minus="backward_std_ms"
-- column optimizer_ms: title="optimizer", unit="ms", format="measured", plus_minus="optimizer_std_ms"
-- column ratio: title="backward / forward", digits=2
-- empty: No runs of the Transformer language model.
SELECT
  x.title AS implementation,
  m.size,
  m.context,
  m.batch,
  m.precision,
  m.device_kind AS device,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE f.mean_ms END AS forward_ms,
  f.std_ms AS forward_std_ms,
  b.mean_ms AS backward_ms,
  b.std_ms AS backward_std_ms,
  o.mean_ms AS optimizer_ms,
  o.std_ms AS optimizer_std_ms,
  b.mean_ms / f.mean_ms AS ratio
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id
JOIN run_series x ON x.run_id = m.run_id
JOIN run_status d ON d.run_id = m.run_id
LEFT JOIN phase_time f ON f.run_id = m.run_id AND f.phase = 'forward' AND m.status = 'ok'
LEFT JOIN phase_time b ON b.run_id = m.run_id AND b.phase = 'backward' AND m.status = 'ok'
LEFT JOIN phase_time o ON o.run_id = m.run_id AND o.phase = 'optimizer' AND m.status = 'ok'
ORDER BY m.size_order, m.context, m.run_id
