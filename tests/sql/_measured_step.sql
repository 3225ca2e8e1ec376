-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM _measured_step WHERE run_id IN (11, 14) ORDER BY run_id, rank, pass, step;
