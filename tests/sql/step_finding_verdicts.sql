-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- Operators with a tenth of a step or more are findings with their verdicts.
SELECT * FROM step_finding ORDER BY run_id, share IS NULL, share DESC, subject;
