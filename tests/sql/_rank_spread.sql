-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
SELECT * FROM _rank_spread ORDER BY run_id;
