-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
SELECT * FROM collective_summary ORDER BY run_id, operation;
