-- SPDX-License-Identifier: Apache-2.0
-- Models of the case kernels, in inference and in training.
SELECT
  r.run_id,
  m.size,
  m.size_order,
  m.context,
  m.mode
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite_case = 'kernels' AND r.status = 'ok'
JOIN transformer_run m ON m.run_id = r.run_id AND m.mode IN ('forward', 'train')
