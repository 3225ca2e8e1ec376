-- SPDX-License-Identifier: Apache-2.0
-- empty: The peaks of the device were not measured: `kymo peaks` measures them.
SELECT
  t.case_title AS variant,
  f.label,
  f.kind,
  f.rate
FROM selected_run s
JOIN training_run t ON t.run_id = s.run_id
JOIN roofline_roof f ON f.run_id = t.run_id AND f.rank = 0 AND f.pass = 'ops'
ORDER BY t.run_id, f.label
