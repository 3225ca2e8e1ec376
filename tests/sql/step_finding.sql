-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: compilations
-- with: findings
-- Each kind of finding.
SELECT * FROM step_finding ORDER BY run_id, share IS NULL, share DESC, subject;
