-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- Run 21: call 3 of rank 0 has no begin; 41: no clocks; 42: a rank is missing; 43: one rank.
SELECT * FROM collective_call ORDER BY run_id, number, rank;
