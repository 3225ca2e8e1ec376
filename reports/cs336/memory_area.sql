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
    setting
  FROM (
    SELECT
      r.run_id,
      r.device_kind,
      m.size || ', context ' || m.context || ', ' || m.precision || ', ' || m.mode AS setting,
      m.mode,
      row_number() OVER (
        PARTITION BY m.mode
        ORDER BY m.size_order DESC, m.context DESC, m.precision = 'fp32' DESC, r.run_id DESC
      ) AS position
    FROM selected_run s
    JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336' AND r.suite_case = 'memory' AND r.status = 'ok'
    JOIN transformer_run m ON m.run_id = r.run_id
    WHERE
      EXISTS (
        SELECT 1
        FROM memory_point p
        WHERE p.run_id = r.run_id AND p.rank = 0 AND p.pass = 'memory' AND p.step >= 0
      )
  )
  WHERE position = 1 AND mode IN ('forward', 'train')
),
-- the measured steps
shown AS (
  SELECT
    c.*,
    min(x.start_ns) AS begin_ns,
    max(x.start_ns + x.host_ns) AS end_ns
  FROM chosen c
  JOIN sample x ON x.run_id = c.run_id AND x.rank = 0 AND x.pass = 'memory' AND x.phase = 'step' AND x.warmup = 0
  GROUP BY c.run_id
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
FROM shown n
JOIN memory_point m
  ON m.run_id = n.run_id
  AND m.rank = 0
  AND m.pass = 'memory'
  AND m.device = n.device_kind
  AND m.time_ns BETWEEN n.begin_ns AND n.end_ns
ORDER BY n.run_id, m.sequence
