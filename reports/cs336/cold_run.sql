-- SPDX-License-Identifier: Apache-2.0
-- The run without warm-up of the largest model.
SELECT
  r.run_id,
  r.device_kind,
  m.size,
  m.context
FROM selected_run s
JOIN run r
  ON r.run_id = s.run_id
  AND r.suite_case IN ('warmup', 'timing-warmup')
  AND r.warmup = 0
  AND r.status = 'ok'
JOIN transformer_run m ON m.run_id = r.run_id
ORDER BY m.size_order DESC, m.context DESC, r.run_id
LIMIT 1
