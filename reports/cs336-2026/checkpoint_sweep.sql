-- SPDX-License-Identifier: Apache-2.0
-- caption: Checkpoints: predicted and measured peak, and time of a step.
-- column setting: title="model", once=true
-- column choice: title="checkpoints", format="code"
-- column predicted_bytes: title="predicted peak", format="bytes"
-- column measured: title="measured peak", format="bytes"
-- column error: title="difference", format="percent", digits=1
-- column step_ms: title="step", unit="ms", format="significant", digits=4
-- column recompute_ms: title="computing again", unit="ms", format="significant", digits=3
-- column loss: title="loss"
-- note: The loss is compared bit for bit with that of the run without checkpoints.
-- empty: Not in this database: `kymo suite run cs336 --filter '^checkpoint'` adds this data.
SELECT
  m.size || ', batch ' || m.batch || ', context ' || m.context || ', ' || m.precision AS setting,
  c.choice,
  c.predicted_bytes,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE c.measured_bytes END AS measured,
  c.error,
  c.step_ms,
  c.recompute_ms,
  CASE c.has_equal_loss WHEN 1 THEN 'equal' WHEN 0 THEN 'differs' END AS loss
FROM selected_run s
JOIN checkpoint_run c ON c.run_id = s.run_id AND c.suite_case LIKE 'checkpoint%'
JOIN transformer_run m ON m.run_id = c.run_id
JOIN run_status d ON d.run_id = c.run_id
ORDER BY
  m.size_order, m.context, c.checkpoint = 'none' DESC, c.checkpoint, c.checkpoint_blocks, c.checkpoint_feed_forward,
  c.run_id
