-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory by category at the peak of a step.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column precision: title="precision"
-- column mode: title="mode", format="code"
-- column parameter_bytes: title="parameters", format="bytes"
-- column gradient_bytes: title="gradients", format="bytes"
-- column optimizer_state_bytes: title="optimizer state", format="bytes"
-- column activation_bytes: title="activations", format="bytes"
-- column workspace_bytes: title="workspace", format="bytes"
-- column input_bytes: title="inputs", format="bytes"
-- column unknown_bytes: title="unknown", format="bytes"
-- note: Parameters, gradients, optimizer state and inputs are tagged by the workload. Activations are allocated in the
--   forward pass and outlive their operator; workspace is allocated and freed within one operator. Copies of
--   weights that autocast caches count as activations: the records do not tell them from other casts.
-- empty: No memory records: `kymo suite run cs336 --filter '^memory'` adds this data.
SELECT
  m.size,
  m.context,
  m.precision,
  m.mode,
  p.parameter_bytes,
  p.gradient_bytes,
  p.optimizer_state_bytes,
  p.activation_bytes,
  p.workspace_bytes,
  p.input_bytes,
  p.unknown_bytes
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'memory' AND m.status = 'ok'
JOIN memory_peak p ON p.run_id = m.run_id AND p.rank = 0 AND p.phase = 'step' AND p.device = m.device_kind
ORDER BY m.size_order, m.size, m.context, m.precision, m.mode, m.run_id
