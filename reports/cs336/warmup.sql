-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time by number of warm-up steps.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column warmup: title="warm-up steps"
-- column count: title="measured steps"
-- column step_ms: title="whole step", unit="ms", format="measured", plus_minus="step_std_ms"
-- column relative: title="std / mean", unit="%", format="significant", digits=3
-- column max_ms: title="max", unit="ms", format="significant"
-- column forward_ms: title="forward", unit="ms", format="measured", plus_minus="forward_std_ms"
-- column backward_ms: title="backward", unit="ms", format="measured", plus_minus="backward_std_ms"
-- column optimizer_ms: title="optimizer", unit="ms", format="measured", plus_minus="optimizer_std_ms"
-- empty: The case `timing-warmup` of the suite `cs336` was not run.
SELECT
  m.size,
  m.context,
  m.warmup,
  w.count,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE w.mean_ms END AS step_ms,
  w.std_ms AS step_std_ms,
  CASE WHEN d.status_label = '' THEN 100.0 * w.std_ms / w.mean_ms END AS relative,
  CASE WHEN d.status_label = '' THEN w.max_ms END AS max_ms,
  CASE WHEN d.status_label = '' THEN f.mean_ms END AS forward_ms,
  f.std_ms AS forward_std_ms,
  CASE WHEN d.status_label = '' THEN b.mean_ms END AS backward_ms,
  b.std_ms AS backward_std_ms,
  CASE WHEN d.status_label = '' THEN o.mean_ms END AS optimizer_ms,
  o.std_ms AS optimizer_std_ms
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case IN ('warmup', 'timing-warmup')
JOIN run_status d ON d.run_id = m.run_id
LEFT JOIN phase_time w ON w.run_id = m.run_id AND w.phase = 'step'
LEFT JOIN phase_time f ON f.run_id = m.run_id AND f.phase = 'forward'
LEFT JOIN phase_time b ON b.run_id = m.run_id AND b.phase = 'backward'
LEFT JOIN phase_time o ON o.run_id = m.run_id AND o.phase = 'optimizer'
ORDER BY m.size_order, m.size, m.context, m.warmup, m.run_id
