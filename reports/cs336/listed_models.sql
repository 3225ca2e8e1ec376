-- SPDX-License-Identifier: Apache-2.0
-- Training steps of the case kernels, with those that did not complete and have no kernels.
SELECT
  m.*,
  d.status_label
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'kernels' AND m.mode = 'train'
JOIN run_status d ON d.run_id = m.run_id
