-- SPDX-License-Identifier: Apache-2.0
-- caption: Operators and the peaks of the device, as far as they were measured:
-- empty: No operators with arguments: add `--passes time,ops --trace-detail shapes` to the command. Available for
--   workloads that use LibTorch.
WITH observed AS (
  SELECT max(r.run_id) AS run_id
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  WHERE EXISTS (SELECT 1 FROM op_roofline w WHERE w.run_id = r.run_id)
  GROUP BY r.workload
)
SELECT
  s.title,
  m.label,
  m.class,
  m.detail,
  m.flops,
  m.bytes,
  m.ms
FROM observed o
JOIN selected_run s ON s.run_id = o.run_id
JOIN roofline_mark m ON m.run_id = o.run_id AND m.rank = 0 AND m.pass = 'ops'
ORDER BY o.run_id, m.class, m.label
