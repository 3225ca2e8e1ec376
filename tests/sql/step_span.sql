-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM step_span ORDER BY run_id, step;
