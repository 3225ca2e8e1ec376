-- SPDX-License-Identifier: Apache-2.0
-- The newest run with measured steps; one that measured peaks if there is no other.
SELECT s.run_id
FROM selected_run s
WHERE EXISTS (SELECT 1 FROM pass_step_time t WHERE t.run_id = s.run_id AND t.warmup = 0)
ORDER BY s.run_id IN (SELECT p.run_id FROM device_peak p), s.run_id DESC
LIMIT 1
