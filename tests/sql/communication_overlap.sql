-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- Run 23 has a trace but no communication.
SELECT * FROM communication_overlap ORDER BY run_id, rank, phase;
