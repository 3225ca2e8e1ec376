-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM op_summary ORDER BY run_id, phase, name, backward;
