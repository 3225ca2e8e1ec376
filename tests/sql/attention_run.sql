-- SPDX-License-Identifier: Apache-2.0
-- with: attention
SELECT * FROM attention_run ORDER BY run_id;
