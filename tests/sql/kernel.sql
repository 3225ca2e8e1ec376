-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM kernel ORDER BY run_id, sequence;
