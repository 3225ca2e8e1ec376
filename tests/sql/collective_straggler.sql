-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
SELECT * FROM collective_straggler ORDER BY run_id, rank;
