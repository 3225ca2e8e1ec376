-- SPDX-License-Identifier: Apache-2.0
-- caption: Size of one residual-stream tensor in fp32: batch × context × d_model × 4 bytes / 2^20.
-- column size: title="size"
-- column batch: title="batch", format="plain"
-- column context: title="context", unit="tokens", format="plain"
-- column d_model: title="d_model", format="plain"
-- column derived: title="derived", unit="MiB", format="significant", digits=4
-- column reported: title="reported by the workload", unit="MiB", format="significant", digits=4
-- empty: Not in this database: `kymo suite run cs336 --filter '^memory'` adds this data.
SELECT
  size,
  batch,
  context,
  CAST(d_model AS INTEGER) AS d_model,
  batch * context * d_model * 4 / 1048576 AS derived,
  reported / 1048576 AS reported
FROM dimension
WHERE d_model IS NOT NULL
ORDER BY size_order, batch, context
