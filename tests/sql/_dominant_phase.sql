-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: dominant_phases
-- As in the common rows.
SELECT * FROM _dominant_phase ORDER BY run_id, phase;
