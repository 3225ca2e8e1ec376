-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
SELECT * FROM rank_spread ORDER BY run_id;
