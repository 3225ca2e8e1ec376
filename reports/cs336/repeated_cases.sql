-- SPDX-License-Identifier: Apache-2.0
-- Cases that several runs measured, each in its own process: how much the medians of their steps differ. Runs with
-- fewer than two warm-up steps differ on purpose.
SELECT
  r.case_key,
  d.name AS device,
  count(*) AS runs,
  min(t.median_ms) AS fastest_ms,
  max(t.median_ms) AS slowest_ms,
  max(t.median_ms) / nullif(min(t.median_ms), 0) - 1 AS spread
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.status = 'ok' AND r.warmup > 1
JOIN rank k ON k.run_id = s.run_id AND k.rank = 0 AND k.pass = 'time'
JOIN device d ON d.device_id = k.device_id
JOIN phase_time t ON t.run_id = s.run_id AND t.phase = 'step'
GROUP BY r.case_key, d.name
HAVING count(*) > 1
