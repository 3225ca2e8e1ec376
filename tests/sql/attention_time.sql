-- SPDX-License-Identifier: Apache-2.0
-- with: attention
SELECT * FROM attention_time ORDER BY run_id, phase;
