-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of the forward pass, the backward pass and the optimizer step.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column precision: title="precision"
-- column forward_ms: title="forward", unit="ms", format="measured", plus_minus="forward_std_ms"
-- column backward_ms: title="backward", unit="ms", format="measured", plus_minus="backward_std_ms"
-- column optimizer_ms: title="optimizer", unit="ms", format="measured", plus_minus="optimizer_std_ms"
-- column step_ms: title="whole step", unit="ms", format="measured", plus_minus="step_std_ms"
-- column ratio: title="backward / forward", digits=2
-- column rate: title="rate", unit="TFLOP/s", format="significant", digits=3, optional=true
-- column busy: title="GPU busy", unit="%", digits=0, optional=true
-- column verified: title="verified"
-- note: Cells without a value show the run's status; see section Run status for details. Rate: declared operations of a
--   step over its time. GPU busy: share of the traced step of the same case in which a kernel, copy or memset runs.
-- empty: The case `timing` of the suite `cs336` was not run.
SELECT
  m.size,
  m.context,
  m.precision,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE f.mean_ms END AS forward_ms,
  f.std_ms AS forward_std_ms,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE b.mean_ms END AS backward_ms,
  b.std_ms AS backward_std_ms,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE o.mean_ms END AS optimizer_ms,
  o.std_ms AS optimizer_std_ms,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE w.mean_ms END AS step_ms,
  w.std_ms AS step_std_ms,
  CASE WHEN d.status_label = '' THEN b.mean_ms / f.mean_ms END AS ratio,
  t.flops_per_s / 1e12 AS rate,
  100 * y.share AS busy,
  CASE WHEN d.status_label IN ('', 'failed') THEN d.verified END AS verified
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'timing'
JOIN run_status d ON d.run_id = m.run_id
LEFT JOIN phase_time f ON f.run_id = m.run_id AND f.phase = 'forward'
LEFT JOIN phase_time b ON b.run_id = m.run_id AND b.phase = 'backward'
LEFT JOIN phase_time o ON o.run_id = m.run_id AND o.phase = 'optimizer'
LEFT JOIN phase_time w ON w.run_id = m.run_id AND w.phase = 'step'
LEFT JOIN throughput t ON t.run_id = m.run_id AND t.phase = 'step' AND d.status_label = ''
LEFT JOIN busy_share y ON y.run_id = m.run_id
ORDER BY m.size_order, m.size, m.context, m.precision, m.run_id
