-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM op_by_scope ORDER BY run_id, phase, module, name, backward;
