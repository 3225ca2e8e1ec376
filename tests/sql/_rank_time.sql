-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
SELECT * FROM _rank_time WHERE run_id IN (21, 31) ORDER BY run_id, rank, phase;
