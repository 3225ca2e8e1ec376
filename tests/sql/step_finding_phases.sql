-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: dominant_phases
-- Phases that dominate a step, and one that takes just a half of it.
SELECT * FROM step_finding
WHERE subject IN ('optimizer', 'outside of forward, backward and optimizer')
ORDER BY run_id;
