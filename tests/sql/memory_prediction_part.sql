-- SPDX-License-Identifier: Apache-2.0
-- with: predictions
SELECT * FROM memory_prediction_part ORDER BY run_id, part_order;
