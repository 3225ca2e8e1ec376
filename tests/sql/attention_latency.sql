-- SPDX-License-Identifier: Apache-2.0
-- with: attention
-- Run 17 is paired with run 18, not 10. Runs 11, 12 and 16 time both in one step. Run 23 has no backward run, run 28 no
-- times.
SELECT * FROM attention_latency ORDER BY run_id;
