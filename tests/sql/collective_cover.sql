-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- Run 44: calls 0 and 1 overlap; call 2 begins in backward and ends in communication. Rank 1 has no phases.
SELECT * FROM collective_cover ORDER BY run_id, rank, phase;
