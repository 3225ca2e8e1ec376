-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT *
FROM memory_by_category
WHERE run_id = 13 AND phase IN ('step', 'outside') OR run_id = 14 AND phase = 'step'
ORDER BY run_id, phase, category_order;
