-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM kernel_call ORDER BY run_id, kind, sequence;
