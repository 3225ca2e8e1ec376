-- SPDX-License-Identifier: Apache-2.0
-- caption: Operators and the peaks of the device, as far as they were measured, before and after the optimisations:
-- empty: No operators with arguments.
SELECT
  o.variant,
  m.label,
  m.class,
  m.detail,
  m.flops,
  m.bytes,
  m.ms
FROM observed o
JOIN roofline_mark m ON m.run_id = o.run_id AND m.rank = 0 AND m.pass = 'ops'
ORDER BY o.run_id, m.class, m.label
