-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory by category over the measured steps:
-- empty: No memory records: `kymo suite run cs336 --filter '^memory'` adds this data.
-- column time_ns: title="time"
-- column parameter_bytes: title="parameters", format="bytes"
-- column gradient_bytes: title="gradients", format="bytes"
-- column optimizer_state_bytes: title="optimizer state", format="bytes"
-- column activation_bytes: title="activations", format="bytes"
-- column workspace_bytes: title="workspace", format="bytes"
-- column input_bytes: title="inputs", format="bytes"
-- column unknown_bytes: title="unknown", format="bytes"
-- For each mode, the longest context of the largest size that did not run out of memory. Shows the allocated size of
-- live blocks.
WITH chosen AS (
  SELECT
    run_id,
    device_kind,
    start_ns,
    end_ns,
    setting
  FROM (
    SELECT
      r.run_id,
      r.device_kind,
      y.start_ns,
      y.end_ns,
      m.size || ', context ' || m.context || ', ' || m.precision || ', ' || m.mode AS setting,
      m.mode,
      row_number() OVER (
        PARTITION BY m.mode
        ORDER BY m.size_order DESC, m.context DESC, m.precision = 'fp32' DESC, r.run_id DESC
      ) AS position
    FROM selected_run s
    JOIN run r ON r.run_id = s.run_id AND r.suite_case = 'memory' AND r.status = 'ok'
    JOIN transformer_run m ON m.run_id = r.run_id
    JOIN memory_steps y ON y.run_id = r.run_id AND y.rank = 0
  )
  WHERE position = 1 AND mode IN ('forward', 'train')
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
