-- SPDX-License-Identifier: Apache-2.0
-- caption: Peak memory in fp32 and under bf16 autocast.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column mode: title="mode"
-- column plain: title="fp32", format="bytes"
-- column mixed: title="bf16 autocast", format="bytes"
-- column change: title="change", unit="%", digits=1
-- note: Under autocast, the weights remain in fp32. Copies of them in bf16 are cached until the end of forward; they
--   count as activations.
-- empty: Not in this database: `kymo suite run cs336 --filter '^memory'` adds this data.
WITH peak AS (
  SELECT
    m.size,
    m.size_order,
    m.context,
    m.mode,
    m.precision,
    max(CASE WHEN d.status_label <> '' THEN d.status_label ELSE p.peak_allocated_bytes END) AS bytes
  FROM selected_run s
  JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'memory'
  JOIN run_status d ON d.run_id = m.run_id
  LEFT JOIN memory_peak p ON p.run_id = m.run_id AND p.rank = 0 AND p.device = m.device_kind AND p.phase = 'step'
  WHERE p.run_id IS NOT NULL OR d.status_label <> ''
  GROUP BY m.size, m.context, m.mode, m.precision
)
SELECT
  f.size,
  f.context,
  CASE f.mode WHEN 'forward' THEN 'forward only' ELSE 'full step' END AS mode,
  f.bytes AS plain,
  a.bytes AS mixed,
  CASE WHEN typeof(a.bytes) = 'integer' AND typeof(f.bytes) = 'integer' THEN 100.0 * a.bytes / f.bytes - 100 END
    AS change
FROM peak f
JOIN peak a ON a.size = f.size AND a.context = f.context AND a.mode = f.mode AND a.precision LIKE '%autocast'
WHERE f.precision = 'fp32'
ORDER BY f.size_order, f.context, f.mode
