-- SPDX-License-Identifier: Apache-2.0
-- with: collected
UPDATE op SET shapes_id = 1 WHERE run_id = 14 AND sequence = 0;
SELECT * FROM op_call ORDER BY run_id, sequence;
