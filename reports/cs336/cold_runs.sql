-- SPDX-License-Identifier: Apache-2.0
-- The runs without warm-up.
SELECT m.*
FROM selected_run s
JOIN
  transformer_run m ON m.run_id = s.run_id
AND m.suite_case IN ('warmup', 'timing-warmup')
AND m.warmup = 0
AND m.status = 'ok'
