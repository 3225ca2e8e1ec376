-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM kernel_by_phase ORDER BY run_id, phase, total_ms DESC, class;
