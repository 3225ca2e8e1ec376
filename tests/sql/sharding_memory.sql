-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
SELECT * FROM sharding_memory ORDER BY run_id, rank, marker_order;
