-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: findings
-- with: lines
-- Findings name the line of run 14 that reads most values, except in the optimizer, and of run 12 the one that copies
-- most of them over its phases.
INSERT INTO line_total (
  run_id, rank, pass, sequence, file_id, line, function_id, phase_id, of_forward, kind, steps, calls, total_ns
) VALUES
(12, 0, 'ops', 0, 950, 40, 952, 1, 0, 'copy to host', 2, 6, 1000),
(12, 0, 'ops', 1, 950, 40, 952, 3, 0, 'copy to host', 2, 6, 1000),
(12, 0, 'ops', 2, 950, 44, 952, 3, 0, 'copy to host', 2, 8, 1000);
INSERT INTO string (string_id, text) VALUES (956, 'aten::_local_scalar_dense');
INSERT INTO op_total (
  run_id, rank, pass, sequence, phase_id, scope_id, name_id, backward, steps, calls, host_ns, self_host_ns, kernels,
  device_ns
) VALUES
(14, 0, 'ops', 190, NULL, 25, 956, 0, 2, 4, 100000, 100000, 0, 0),
(14, 0, 'ops', 191, 3, NULL, 956, 0, 2, 40, 100000, 100000, 0, 0);
SELECT * FROM step_finding WHERE subject IN ('copies to the host', 'values read by the host') ORDER BY run_id;
