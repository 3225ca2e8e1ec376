-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM timeline_step ORDER BY run_id, rank, pass;
