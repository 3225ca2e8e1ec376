-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: lines
SELECT * FROM _copying_line ORDER BY run_id, pass;
