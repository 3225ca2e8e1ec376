-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- Over two measured steps: two scopes of one module are added up; the pass ops of run 11 is not that of its kernels.
INSERT INTO idle_total (
  run_id, rank, pass, sequence, phase_id, scope_id, activity, steps, gaps, total_ns, after_copy_ns
)
VALUES
(11, 0, 'trace', 0, 1, 20, 'host code', 2, 4, 400000, 100000),
(11, 0, 'trace', 1, 1, 21, 'host code', 2, 2, 200000, 0),
(11, 0, 'trace', 2, 1, 20, 'launch', 2, 0, 60000, 20000),
(11, 0, 'trace', 3, NULL, NULL, 'compilation', 2, 1, 500000, 0),
(11, 0, 'ops', 0, 1, 20, 'operator', 2, 9, 9000000, 0),
(12, 0, 'ops', 0, 3, NULL, 'operator', 2, 2, 80000, 0);
SELECT * FROM idle_time ORDER BY run_id, rank, pass, phase, module, activity;
