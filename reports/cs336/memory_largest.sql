-- SPDX-License-Identifier: Apache-2.0
-- caption: Largest memory blocks live at the peak of a step, grouped by size and origin.
-- column setting: title="model", once=true
-- column block_bytes: title="block size", format="bytes"
-- column blocks: title="blocks"
-- column total_bytes: title="total", format="bytes"
-- column category: title="category"
-- column requested_in: title="module or phase", format="code"
-- column operator: title="operator", format="code"
-- column origin: title="origin", format="code"
-- note: The minimum block size and the number of rows are set in the first line of the query.
-- empty: No memory records: `kymo suite run cs336 --filter '^memory'` adds this data.
-- minimum block size and number of rows shown
WITH setting (least_bytes, rows_shown) AS (VALUES (1024, 15)),
chosen AS (
  SELECT
    m.run_id,
    m.device_kind,
    m.size || ', context ' || m.context || ', ' || m.precision || ', ' || m.mode AS setting
  FROM selected_run s
  JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'memory' AND m.status = 'ok'
  WHERE EXISTS (SELECT 1 FROM memory_block a WHERE a.run_id = m.run_id AND a.rank = 0 AND a.pass = 'memory')
  ORDER BY m.mode = 'train' DESC, m.size_order DESC, m.context DESC, m.precision = 'fp32' DESC, m.run_id DESC
  LIMIT 1
)
SELECT
  c.setting,
  b.allocated_bytes AS block_bytes,
  count(*) AS blocks,
  sum(b.allocated_bytes) AS total_bytes,
  replace(b.category, '_', ' ') AS category,
  coalesce(b.module, CASE b.phase WHEN 'outside' THEN 'before the steps' ELSE b.phase END)
  || CASE
    WHEN b.module IS NOT NULL AND b.phase NOT IN ('other', 'outside') THEN ' (' || b.phase || ')'
    ELSE ''
  END AS requested_in,
  b.operator,
  b.origin
FROM chosen c
JOIN memory_block b ON b.run_id = c.run_id AND b.rank = 0 AND b.pass = 'memory' AND b.device = c.device_kind
WHERE b.at_peak = 1 AND b.allocated_bytes >= (SELECT least_bytes FROM setting)
GROUP BY b.allocated_bytes, b.category, b.phase, b.module, b.operator, b.origin
ORDER BY b.allocated_bytes DESC, total_bytes DESC, requested_in
LIMIT (SELECT rows_shown FROM setting)
