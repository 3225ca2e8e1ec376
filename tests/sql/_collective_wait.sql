-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- Waits and transfers per step of the collectives in collective_summary.
SELECT * FROM _collective_wait ORDER BY run_id, operation;
