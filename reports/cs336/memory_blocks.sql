-- SPDX-License-Identifier: Apache-2.0
-- Memory blocks for memory_area.sql: the blocks live in the measured steps (clipped to their start), limited to the
-- largest. minimum block size and number of blocks shown
WITH setting (least_bytes, blocks_shown) AS (VALUES (0, 20000)),
chosen AS (
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
),
largest AS (
  SELECT
    n.setting,
    a.run_id,
    a.pass,
    a.sequence,
    max(a.alloc_ns, n.begin_ns) AS start_ns,
    CASE WHEN a.free_ns <= n.end_ns THEN a.free_ns END AS end_ns,
    row_number() OVER (PARTITION BY a.run_id ORDER BY a.allocated_bytes DESC, a.sequence) AS position
  FROM shown n
  CROSS JOIN allocation a ON a.run_id = n.run_id AND a.rank = 0 AND a.pass = 'memory' AND a.device = n.device_kind
  WHERE
    a.alloc_ns <= n.end_ns
    AND coalesce(a.free_ns >= n.begin_ns, 1)
    AND a.allocated_bytes >= (SELECT least_bytes FROM setting)
)
SELECT
  l.setting,
  l.start_ns,
  l.end_ns,
  b.allocated_bytes AS bytes,
  coalesce(b.operator, replace(b.category, '_', ' ')) AS label,
  -- same names as the series of memory_area.sql, for the same colors
  CASE b.category
    WHEN 'parameter' THEN 'parameters'
    WHEN 'gradient' THEN 'gradients'
    WHEN 'activation' THEN 'activations'
    WHEN 'input' THEN 'inputs'
    ELSE replace(b.category, '_', ' ')
  END AS category,
  coalesce(b.scope || ' ', '') || '(' || b.phase || CASE WHEN b.step >= 0 THEN ', step ' || b.step ELSE '' END || ')'
  || coalesce(', ' || b.origin, '') AS detail
FROM largest l
JOIN memory_block b ON b.run_id = l.run_id AND b.rank = 0 AND b.pass = l.pass AND b.sequence = l.sequence
WHERE l.position <= (SELECT blocks_shown FROM setting)
ORDER BY l.run_id, l.sequence
