-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: lines
SELECT * FROM line_time ORDER BY run_id, rank, pass, phase, location, of_forward;
