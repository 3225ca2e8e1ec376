-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory by category at the peak of a step.
-- column workload: title="workload", format="code"
-- column title: title="run"
-- column peak_allocated_bytes: title="peak", format="bytes"
-- column phase: title="phase", format="code"
-- column parameter_bytes: title="parameters", format="bytes"
-- column gradient_bytes: title="gradients", format="bytes"
-- column optimizer_state_bytes: title="optimizer state", format="bytes"
-- column activation_bytes: title="activations", format="bytes"
-- column workspace_bytes: title="workspace", format="bytes"
-- column input_bytes: title="inputs", format="bytes"
-- column communication_bytes: title="communication", format="bytes", optional=true
-- column unknown_bytes: title="unknown", format="bytes"
-- note: Memory allocated by LibTorch on the run's device, at the peak of the measured steps.
-- empty: No memory records: add `--passes time,memory` to the command.
SELECT
  r.workload,
  s.title,
  p.peak_allocated_bytes,
  (
    SELECT h.phase
    FROM memory_peak h
    WHERE
      h.run_id = p.run_id
      AND h.rank = p.rank
      AND h.pass = p.pass
      AND h.device = p.device
      AND h.phase NOT IN ('step', 'run', 'warm-up', 'outside')
    ORDER BY h.peak_allocated_bytes DESC, h.peak_ns
    LIMIT 1
  ) AS phase,
  p.parameter_bytes,
  p.gradient_bytes,
  p.optimizer_state_bytes,
  p.activation_bytes,
  p.workspace_bytes,
  p.input_bytes,
  nullif(p.communication_bytes, 0) AS communication_bytes,
  p.unknown_bytes
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN memory_peak p ON p.run_id = r.run_id AND p.rank = 0 AND p.phase = 'step' AND p.device = r.device_kind
ORDER BY r.run_id
