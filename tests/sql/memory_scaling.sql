-- SPDX-License-Identifier: Apache-2.0
-- with: predictions
SELECT * FROM memory_scaling ORDER BY run_id;
