-- SPDX-License-Identifier: Apache-2.0
-- The runs without warm-up.
SELECT
  r.run_id,
  r.device_kind,
  r.repetition,
  m.size,
  m.size_order,
  m.context,
  m.precision
FROM selected_run s
JOIN run r
  ON r.run_id = s.run_id
  AND r.suite_case IN ('warmup', 'timing-warmup')
  AND r.warmup = 0
  AND r.status = 'ok'
JOIN transformer_run m ON m.run_id = r.run_id
