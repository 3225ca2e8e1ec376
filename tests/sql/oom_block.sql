-- SPDX-License-Identifier: Apache-2.0
-- with: attention
-- Block 2 had been given back by the last request that went well, number 7; 4 and 7 were given back later.
SELECT * FROM oom_block ORDER BY run_id, sequence;
