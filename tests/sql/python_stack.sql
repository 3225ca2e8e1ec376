-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: lines
SELECT * FROM python_stack ORDER BY run_id, rank, pass, stack;
