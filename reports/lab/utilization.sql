-- SPDX-License-Identifier: Apache-2.0
-- caption: Utilization of the device by matrix products, convolutions and attention.
-- column variant: title="variant"
-- column phase: title="phase", format="code"
-- column time_ms: title="time", unit="ms", format="significant", digits=3
-- column model_gflop: title="work of the model", unit="GFLOP", format="significant", digits=3
-- column peak_gflops: title="measured peak", unit="GFLOP/s", format="significant", digits=3
-- column mfu: title="MFU", unit="%", digits=1
-- column hfu: title="HFU", unit="%", digits=1
-- column unknown: title="unknown work", unit="%", digits=1
-- note: MFU counts what the model needs: causal attention in full, recomputation not; HFU counts what was executed.
--   Embedding lookups have no operations. The peak is that of the type of most operations. "Unknown work" is the share
--   of operators whose work kymo does not know in the time of all operators.
-- empty: No operators with arguments.
SELECT
  t.case_title AS variant,
  u.phase,
  u.time_ms,
  u.model_gflop,
  u.peak_gflops,
  u.mfu,
  u.hfu,
  u.unknown
FROM utilized u
JOIN training_run t ON t.run_id = u.run_id
ORDER BY u.run_id, u.phase <> 'step', u.phase
