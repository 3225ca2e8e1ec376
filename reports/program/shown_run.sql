-- SPDX-License-Identifier: Apache-2.0
-- The newest run with measured steps.
SELECT max(s.run_id) AS run_id
FROM selected_run s
WHERE EXISTS (SELECT 1 FROM pass_step_time t WHERE t.run_id = s.run_id AND t.warmup = 0)
