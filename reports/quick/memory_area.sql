-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory by category over the measured steps:
-- empty: No memory records: add `--passes time,memory` to the command.
-- column time_ns: title="time"
-- column parameter_bytes: title="parameters", format="bytes"
-- column gradient_bytes: title="gradients", format="bytes"
-- column optimizer_state_bytes: title="optimizer state", format="bytes"
-- column activation_bytes: title="activations", format="bytes"
-- column workspace_bytes: title="workspace", format="bytes"
-- column input_bytes: title="inputs", format="bytes"
-- column unknown_bytes: title="unknown", format="bytes"
-- The newest run with memory records among those with the fewest ranks. Shows the allocated size of live blocks.
WITH chosen AS (
  SELECT
    r.run_id,
    r.device_kind,
    y.start_ns,
    y.end_ns,
    r.workload || ', ' || s.title AS setting
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.status = 'ok'
  JOIN memory_steps y ON y.run_id = r.run_id AND y.rank = 0
  ORDER BY r.ranks, r.run_id DESC
  LIMIT 1
)
SELECT
  n.setting,
  m.time_ns,
  m.parameter_bytes,
  m.gradient_bytes,
  m.optimizer_state_bytes,
  m.activation_bytes,
  m.workspace_bytes,
  m.input_bytes,
  m.unknown_bytes
FROM chosen n
JOIN memory_timeline m
  ON m.run_id = n.run_id
  AND m.rank = 0
  AND m.pass = 'memory'
  AND m.device = n.device_kind
  AND m.time_ns BETWEEN n.start_ns AND n.end_ns
ORDER BY n.run_id, m.sequence
