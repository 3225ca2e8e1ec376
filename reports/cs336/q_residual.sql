-- SPDX-License-Identifier: Apache-2.0
-- caption: Size of one residual-stream tensor in fp32: batch × context × d_model × 4 bytes / 2^20.
-- column size: title="size"
-- column batch: title="batch", format="plain"
-- column context: title="context", unit="tokens", format="plain"
-- column d_model: title="d_model", format="plain"
-- column derived: title="derived", unit="MiB", format="significant", digits=4
-- column reported: title="reported by the workload", unit="MiB", format="significant", digits=4
-- empty: Not in this database: `kymo suite run cs336 --filter '^memory'` adds this data.
WITH dimension AS (
  SELECT
    m.size,
    m.size_order,
    m.batch,
    m.context,
    max(CASE x.name WHEN 'd_model' THEN x.value END) AS d_model,
    max(CASE x.name WHEN 'residual_stream_bytes' THEN x.value END) AS bytes
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite_case = 'memory'
  JOIN transformer_run m ON m.run_id = r.run_id AND m.precision = 'fp32'
  JOIN reported_metric x ON x.run_id = r.run_id AND x.rank = 0
  GROUP BY m.size, m.batch, m.context
)
SELECT
  size,
  batch,
  context,
  CAST(d_model AS INTEGER) AS d_model,
  batch * context * d_model * 4 / 1048576 AS derived,
  bytes / 1048576 AS reported
FROM dimension
WHERE d_model IS NOT NULL
ORDER BY size_order, batch, context
