-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM memory_stack ORDER BY run_id, rank, pass, stack;
