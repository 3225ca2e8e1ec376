-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM launch_gap ORDER BY run_id, phase;
