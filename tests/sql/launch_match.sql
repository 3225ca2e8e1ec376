-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: distributed
-- with: kernel_verdicts
-- with: kernel_counts
SELECT * FROM launch_match ORDER BY run_id, step;
