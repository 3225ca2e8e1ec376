-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM allocator_vs_driver ORDER BY run_id;
