-- SPDX-License-Identifier: Apache-2.0
-- with: attention
-- Block 2 was freed before the last successful allocation, number 7; blocks 4 and 7 were freed later.
SELECT * FROM oom_block ORDER BY run_id, sequence;
