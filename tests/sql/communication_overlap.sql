-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- Run 23 is traced and does not communicate.
SELECT * FROM communication_overlap ORDER BY run_id, rank, phase;
