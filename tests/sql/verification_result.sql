-- SPDX-License-Identifier: Apache-2.0
INSERT INTO verification (
  run_id, rank, name, outcome, max_abs_error, max_rel_error, tolerance, reference, detail
) VALUES
(1, 0, 'y', 'passed', 1e-6, NULL, 1e-5, 'float64', ''),
(2, 1, 'y', 'unavailable', NULL, NULL, NULL, 'float64', 'does not fit');
SELECT * FROM verification_result ORDER BY run_id;
