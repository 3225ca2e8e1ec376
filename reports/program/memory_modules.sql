-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory that is live at the peak of the measured steps, by module and category.
-- column module: title="module", format="code"
-- column category: title="category"
-- column bytes: title="size", format="bytes"
-- column share: title="of the peak", unit="%", digits=1
-- column blocks: title="blocks", format="plain"
-- column operator: title="operator of the largest", format="code"
-- note: The module is the one that allocated the memory. Repeated modules share a row: their indices are left out.
-- empty: No memory records: `--passes memory` adds them.
WITH live AS (
  SELECT
    coalesce(b.module, '(no module)') AS module,
    replace(b.category, '_', ' ') AS category,
    b.allocated_bytes,
    b.operator,
    row_number() OVER (PARTITION BY b.module, b.category ORDER BY b.allocated_bytes DESC, b.sequence) AS position
  FROM memory_block b
  JOIN run r ON r.run_id = b.run_id AND r.device_kind = b.device
  WHERE
    b.run_id = (SELECT run_id FROM chosen)
    AND b.rank = 0
    AND b.pass = 'memory'
    AND b.at_peak = 1
)
SELECT
  module,
  category,
  sum(allocated_bytes) AS bytes,
  100.0 * sum(allocated_bytes) / (SELECT sum(allocated_bytes) FROM live) AS share,
  count(*) AS blocks,
  max(CASE position WHEN 1 THEN operator END) AS operator
FROM live
GROUP BY module, category
ORDER BY bytes DESC, module, category
LIMIT 15
