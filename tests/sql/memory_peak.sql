-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM memory_peak ORDER BY run_id, device, phase;
