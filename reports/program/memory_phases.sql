-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory at the peak of each phase.
-- column phase: title="phase", format="code"
-- column peak_allocated_bytes: title="peak", format="bytes"
-- column parameter_bytes: title="parameters", format="bytes"
-- column gradient_bytes: title="gradients", format="bytes"
-- column optimizer_state_bytes: title="optimizer state", format="bytes"
-- column activation_bytes: title="activations", format="bytes"
-- column workspace_bytes: title="workspace", format="bytes"
-- column input_bytes: title="inputs", format="bytes"
-- column communication_bytes: title="communication", format="bytes", optional=true
-- column unknown_bytes: title="unknown", format="bytes"
-- note: Memory allocated by LibTorch on the device of the run. `step` is the peak of the measured steps.
-- empty: No memory records: `--passes memory` adds them.
SELECT
  p.phase,
  p.peak_allocated_bytes,
  p.parameter_bytes,
  p.gradient_bytes,
  p.optimizer_state_bytes,
  p.activation_bytes,
  p.workspace_bytes,
  p.input_bytes,
  nullif(p.communication_bytes, 0) AS communication_bytes,
  p.unknown_bytes
FROM memory_peak p
JOIN run r ON r.run_id = p.run_id AND r.device_kind = p.device
WHERE
  p.run_id = (SELECT run_id FROM chosen)
  AND p.rank = 0
  AND p.phase NOT IN ('run', 'warm-up', 'outside')
ORDER BY p.phase = 'step', p.phase = 'other', p.peak_ns
