-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory at the peak of each phase.
-- pivot category: values=["bytes"], order="category_order"
-- column phase: title="phase", format="code"
-- column peak_allocated_bytes: title="peak", format="bytes"
-- column bytes: title="{}", format="bytes"
-- note: Memory allocated by LibTorch on the device of the run. `step` is the peak of the measured steps.
-- empty: No memory records: `--passes memory` adds them.
SELECT
  c.phase,
  c.peak_allocated_bytes,
  c.title AS category,
  c.category_order,
  -- a category without memory in any phase has no column
  CASE WHEN max(c.bytes) OVER (PARTITION BY c.category) > 0 THEN c.bytes END AS bytes
FROM memory_by_category c
JOIN run r ON r.run_id = c.run_id AND r.device_kind = c.device
WHERE
  c.run_id = (SELECT run_id FROM chosen)
  AND c.rank = 0
  AND c.phase NOT IN ('run', 'warm-up', 'outside')
ORDER BY c.phase = 'step', c.phase = 'other', c.peak_ns
