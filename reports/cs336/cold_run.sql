-- SPDX-License-Identifier: Apache-2.0
-- The one of cold_runs.sql with the largest model.
SELECT * FROM cold ORDER BY size_order DESC, context DESC, run_id LIMIT 1
