-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM range_instance WHERE run_id = 11 ORDER BY sequence;
