-- SPDX-License-Identifier: Apache-2.0
-- with: attention
-- Runs 17 and 18 are a pair, not 17 and 10; runs 11, 12 and 16 time both in one step; 23 has no run of backward, 28 no
-- time at all.
SELECT * FROM attention_latency ORDER BY run_id;
