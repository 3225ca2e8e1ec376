-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- A name without a class is shown in full.
DELETE FROM kernel_class WHERE name_id = 15;
SELECT * FROM kernel_summary WHERE run_id = 11 ORDER BY phase, total_ms DESC;
