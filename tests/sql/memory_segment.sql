-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM memory_segment ORDER BY run_id, rank, pass, alloc_ns, address;
