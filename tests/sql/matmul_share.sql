-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM matmul_share ORDER BY run_id, phase;
