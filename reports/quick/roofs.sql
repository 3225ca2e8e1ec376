-- SPDX-License-Identifier: Apache-2.0
-- empty: The peaks of the device were not measured: `kymo peaks` measures them.
SELECT
  s.title,
  f.label,
  f.kind,
  f.rate
FROM selected_run s
JOIN roofline_roof f ON f.run_id = s.run_id AND f.rank = 0 AND f.pass = 'ops'
ORDER BY s.run_id, f.label
