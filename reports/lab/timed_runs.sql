-- SPDX-License-Identifier: Apache-2.0
-- The runs whose times and losses are shown: those without records.
SELECT t.*
FROM selected_run s
JOIN training_run t ON t.run_id = s.run_id
WHERE t.is_observed = 0
