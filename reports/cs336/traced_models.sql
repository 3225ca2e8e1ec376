-- SPDX-License-Identifier: Apache-2.0
-- Models of the case kernels, in inference and in training.
SELECT m.*
FROM selected_run s
JOIN
  transformer_run m
  ON m.run_id = s.run_id AND m.suite_case = 'kernels' AND m.status = 'ok' AND m.mode IN ('forward', 'train')
