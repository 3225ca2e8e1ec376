-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- Run 21: call 3 of rank 0 has no start time; 41: no clock offsets; 42: a rank is missing; 43: one rank.
SELECT * FROM collective_call ORDER BY run_id, call_number, rank;
