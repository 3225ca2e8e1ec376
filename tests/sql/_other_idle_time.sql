-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: short_kernels
-- Of the idle time of run 12, that of the loader, that after copies to the host, and that in a feed-forward that
-- launches 600 short kernels do not count. Four places are left, three of which are named.
INSERT INTO string (string_id, text) VALUES (90, 'data_loading');
INSERT INTO idle_total (
  run_id, rank, pass, sequence, phase_id, scope_id, activity, steps, gaps, total_ns, after_copy_ns
)
VALUES
(12, 0, 'ops', 0, 90, NULL, 'host code', 2, 4, 4000000, 0),
(12, 0, 'ops', 1, 1, 25, 'host code', 2, 1000, 3000000, 0),
(12, 0, 'ops', 2, 1, 20, 'operator', 2, 10, 600000, 200000),
(12, 0, 'ops', 3, 2, 20, 'launch', 2, 6, 100000, 0),
(12, 0, 'ops', 4, 3, NULL, 'host code', 2, 2, 300000, 0),
(12, 0, 'ops', 5, NULL, NULL, 'compilation', 2, 1, 900000, 0),
(12, 0, 'ops', 6, 1, 22, 'host code', 2, 1, 50000, 0);
SELECT * FROM _other_idle_time;
