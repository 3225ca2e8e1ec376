-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
SELECT * FROM rank_clock ORDER BY run_id, rank;
