-- SPDX-License-Identifier: Apache-2.0
-- caption: Peak memory by the number of blocks of a segment, without nesting.
-- empty: Not in this database: `kymo suite run cs336 --filter '^checkpoint'` adds this data.
SELECT
  c.checkpoint_blocks AS blocks,
  p.column1 AS series,
  CASE p.column1 WHEN 'predicted' THEN c.predicted_bytes ELSE c.measured_bytes END / 1073741824.0 AS gib
FROM checkpoint_group c
CROSS JOIN (VALUES ('predicted'), ('measured')) p
WHERE
  c.checkpoint = 'blocks'
  AND CASE p.column1 WHEN 'predicted' THEN c.predicted_bytes ELSE c.measured_bytes END IS NOT NULL
ORDER BY p.column1 DESC, c.checkpoint_blocks
