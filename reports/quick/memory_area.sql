-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory by category over the measured steps:
-- empty: No memory records: add `--passes time,memory` to the command.
-- column time_ns: title="time"
-- column run_id: hidden=true
-- column pass: hidden=true
-- column parameter_bytes: title="parameters", format="bytes"
-- column gradient_bytes: title="gradients", format="bytes"
-- column optimizer_state_bytes: title="optimizer state", format="bytes"
-- column activation_bytes: title="activations", format="bytes"
-- column workspace_bytes: title="workspace", format="bytes"
-- column input_bytes: title="inputs", format="bytes"
-- column communication_bytes: title="communication", format="bytes"
-- column unknown_bytes: title="unknown", format="bytes"
-- The allocated size of live blocks, from every allocation and free in the measured steps of the chosen runs.
WITH block AS (
  SELECT
    n.setting,
    a.run_id,
    a.pass,
    a.category,
    a.allocated_bytes,
    max(a.alloc_ns, n.start_ns) AS alloc_ns,
    CASE WHEN a.free_ns <= n.end_ns THEN a.free_ns END AS free_ns
  FROM chosen n
  CROSS JOIN memory_block a ON a.run_id = n.run_id AND a.rank = 0 AND a.pass = 'memory' AND a.device = n.device_kind
  WHERE a.alloc_ns <= n.end_ns AND coalesce(a.free_ns >= n.start_ns, 1)
),
change AS (
  SELECT
    d.setting,
    d.run_id,
    d.pass,
    d.time_ns,
    sum(CASE d.category WHEN 'parameter' THEN d.bytes ELSE 0 END) AS parameter,
    sum(CASE d.category WHEN 'gradient' THEN d.bytes ELSE 0 END) AS gradient,
    sum(CASE d.category WHEN 'optimizer_state' THEN d.bytes ELSE 0 END) AS optimizer_state,
    sum(CASE d.category WHEN 'activation' THEN d.bytes ELSE 0 END) AS activation,
    sum(CASE d.category WHEN 'workspace' THEN d.bytes ELSE 0 END) AS workspace,
    sum(CASE d.category WHEN 'input' THEN d.bytes ELSE 0 END) AS input,
    sum(CASE d.category WHEN 'communication' THEN d.bytes ELSE 0 END) AS communication,
    sum(CASE d.category WHEN 'unknown' THEN d.bytes ELSE 0 END) AS unknown
  FROM (
    SELECT
      setting,
      run_id,
      pass,
      category,
      alloc_ns AS time_ns,
      allocated_bytes AS bytes
    FROM block
    UNION ALL
    SELECT
      setting,
      run_id,
      pass,
      category,
      free_ns,
      -allocated_bytes
    FROM block WHERE free_ns IS NOT NULL
  ) d
  GROUP BY d.setting, d.run_id, d.pass, d.time_ns
)
SELECT
  setting,
  run_id,
  pass,
  time_ns,
  sum(parameter) OVER w AS parameter_bytes,
  sum(gradient) OVER w AS gradient_bytes,
  sum(optimizer_state) OVER w AS optimizer_state_bytes,
  sum(activation) OVER w AS activation_bytes,
  sum(workspace) OVER w AS workspace_bytes,
  sum(input) OVER w AS input_bytes,
  sum(communication) OVER w AS communication_bytes,
  sum(unknown) OVER w AS unknown_bytes
FROM change
WINDOW w AS (PARTITION BY setting, run_id ORDER BY time_ns)
ORDER BY run_id, time_ns
