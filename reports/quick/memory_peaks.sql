-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory by category at the peak of a step.
-- pivot category: values=["bytes"], order="category_order"
-- column workload: title="workload", format="code"
-- column title: title="run"
-- column peak_allocated_bytes: title="peak", format="bytes"
-- column phase: title="phase", format="code"
-- column run_id: hidden=true
-- column bytes: title="{}", format="bytes"
-- note: Memory allocated by LibTorch on the run's device, at the peak of the measured steps.
-- empty: No memory records: add `--passes time,memory` to the command.
WITH high AS MATERIALIZED (
  SELECT
    p.run_id,
    p.phase,
    row_number() OVER (PARTITION BY p.run_id ORDER BY p.peak_allocated_bytes DESC, p.peak_ns) AS position
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  JOIN memory_peak p ON p.run_id = r.run_id AND p.rank = 0 AND p.device = r.device_kind
  WHERE p.phase NOT IN ('step', 'run', 'warm-up', 'outside')
)
SELECT
  r.workload,
  s.title,
  c.peak_allocated_bytes,
  h.phase,
  r.run_id,
  c.title AS category,
  c.category_order,
  -- a category without memory in any row has no column
  CASE WHEN max(c.bytes) OVER (PARTITION BY c.category) > 0 THEN c.bytes END AS bytes
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN memory_by_category c ON c.run_id = r.run_id AND c.rank = 0 AND c.phase = 'step' AND c.device = r.device_kind
LEFT JOIN high h ON h.run_id = r.run_id AND h.position = 1
ORDER BY r.run_id
