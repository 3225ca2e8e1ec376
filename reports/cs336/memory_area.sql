-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory by category over the measured steps:
-- empty: No memory records: `kymo suite run cs336 --filter '^memory'` adds this data.
-- column time_ns: title="time"
-- column run_id: hidden=true
-- column pass: hidden=true
-- column parameter_bytes: title="parameters", format="bytes"
-- column gradient_bytes: title="gradients", format="bytes"
-- column optimizer_state_bytes: title="optimizer state", format="bytes"
-- column activation_bytes: title="activations", format="bytes"
-- column workspace_bytes: title="workspace", format="bytes"
-- column input_bytes: title="inputs", format="bytes"
-- column unknown_bytes: title="unknown", format="bytes"
-- For each mode, the longest context of the largest size that did not run out of memory. Shows the allocated size of
-- live blocks, from every allocation and free.
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
    WHERE EXISTS (SELECT 1 FROM memory_block b WHERE b.run_id = r.run_id AND b.rank = 0 AND b.pass = 'memory')
  )
  WHERE position = 1 AND mode IN ('forward', 'train')
),
block AS (
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
  sum(unknown) OVER w AS unknown_bytes
FROM change
WINDOW w AS (PARTITION BY setting, run_id ORDER BY time_ns)
ORDER BY run_id, time_ns
