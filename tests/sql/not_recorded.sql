-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- Runs 11 and 12 have no memory pass, and the operators of run 12 no arguments. Run 14 has all passes, but could not
-- observe compilations, which is said once, and the peaks of its device were not measured.
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit)
VALUES
(14, 0, 'ops', 900, 'run', -1, '', 'not_observed', 'compilations: no such attribute', ''),
(14, 0, 'trace', 900, 'run', -1, '', 'not_observed', 'compilations: no such attribute', '');
SELECT * FROM not_recorded ORDER BY run_id, subject;
