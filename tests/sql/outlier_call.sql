-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM outlier_call ORDER BY sequence;
-- Two kernels overlap with call 40: one that started before it for 100 µs, and one for 300 µs. A kernel that starts
-- when it ends does not count. One kernel overlaps with call 41.
INSERT INTO gpu_activity (
  run_id, rank, pass, sequence, name_id, start_ns, end_ns, stream, correlation_id, step, phase_id, scope_id,
  attribution, launch_config
) VALUES
(11, 0, 'trace', 39, 11, 29900000, 30100000, 1, 40, 2, 2, NULL, 'phase', 0),
(11, 0, 'trace', 40, 10, 30000000, 30800000, 0, 41, 2, 2, NULL, 'phase', 0),
(11, 0, 'trace', 41, 12, 30500000, 30810000, 1, 42, 2, NULL, NULL, 'none', 0),
(11, 0, 'trace', 42, 12, 30800000, 30860000, 0, 43, 2, 2, NULL, 'phase', 0);
SELECT
  sequence,
  possible_cause
FROM outlier_call
ORDER BY sequence;
