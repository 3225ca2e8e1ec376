-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM memory_block ORDER BY run_id, sequence;
