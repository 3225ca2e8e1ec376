-- SPDX-License-Identifier: Apache-2.0
-- caption: The step by what is computed again.
-- column choice: title="checkpoints", format="code"
-- column states: title="optimizer state"
-- column ranks: title="GPUs", format="plain"
-- column sharding: title="sharded"
-- column step: title="step", unit="ms", format="significant", digits=4
-- column recompute_ms: title="computing again", unit="ms", format="significant", digits=3
-- column mfu: title="MFU", format="percent", digits=1
-- column full_mfu: title="MFU, with masked scores", format="percent", digits=1
-- column predicted_bytes: title="predicted peak", format="bytes"
-- column measured_bytes: title="measured peak", format="bytes"
-- column error: title="difference", format="percent", digits=1
-- column fits: title="predicted to fit"
-- note: MFU: matrix products of forward and backward, without what is computed again and without the lookup of the
--   embedding, over 989.4 TFLOP/s, the dense bf16 rate of the data sheet of H100 and H200.
-- empty: Not in this database, and only a GPU with 141 GB can measure it: `kymo suite run large-step` adds this data.
SELECT
  l.choice,
  CASE l.optimizer_state
    WHEN 'dtype' THEN 'as weights'
    WHEN 'master_weights' THEN 'fp32, with master weights'
    ELSE l.optimizer_state
  END AS states,
  l.ranks,
  l.sharding,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE l.step_ms END AS step,
  l.recompute_ms,
  l.mfu,
  l.full_mfu,
  l.predicted_bytes,
  l.measured_bytes,
  l.error,
  CASE l.fits WHEN 1 THEN 'yes' WHEN 0 THEN 'no' END AS fits
FROM large_step l
JOIN run_status d ON d.run_id = l.run_id
ORDER BY l.step_ms IS NULL, l.ranks, l.step_ms, l.predicted_bytes, l.run_id
