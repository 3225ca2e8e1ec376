-- SPDX-License-Identifier: Apache-2.0
-- Besides `collected`: lines of Python code of run 14, on a CPU, whose pass trace has none, and of run 11, on a GPU, in
-- two steps each. Both copy values to the host, run 11 most of them from a line that is unknown.
INSERT INTO string (string_id, text) VALUES
(950, '/home/me/train.py'), (951, '/home/me/models/block.py'), (952, '<module>'), (953, 'Block.forward'),
(954, '/opt/lib/python3.12/site-packages/torch/nn/modules/module.py'), (955, 'Module._call_impl');
INSERT INTO line_total (
  run_id, rank, pass, sequence, file_id, line, function_id, phase_id, of_forward, kind, steps, calls, total_ns
) VALUES
(14, 0, 'ops', 0, 951, 12, 953, 1, 0, 'operator', 2, 6, 3000000),
(14, 0, 'ops', 1, 951, 12, 953, 2, 1, 'operator', 2, 12, 5000000),
(14, 0, 'ops', 2, 950, 40, 952, NULL, 0, 'host read', 2, 4, 100000),
(14, 0, 'ops', 3, 950, 41, 952, 3, 0, 'host read', 2, 40, 100000),
(14, 0, 'ops', 4, NULL, NULL, NULL, 2, 0, 'operator', 2, 2, 800000),
(14, 1, 'ops', 0, 951, 12, 953, 1, 0, 'operator', 2, 6, 9000000),
(11, 0, 'trace', 0, 951, 12, 953, 1, 0, 'kernel', 2, 8, 4000000),
(11, 0, 'trace', 1, 951, 12, 953, 2, 1, 'kernel', 2, 16, 8000000),
(11, 0, 'trace', 2, 951, 13, 953, 1, 0, 'kernel', 2, 2, 1000000),
(11, 0, 'trace', 3, 951, 13, 953, 1, 0, 'memset', 2, 2, 1000),
(11, 0, 'trace', 4, 950, 40, 952, NULL, 0, 'copy to host', 2, 4, 2000),
(11, 0, 'trace', 5, NULL, NULL, NULL, NULL, 0, 'copy to host', 2, 6, 3000),
(11, 0, 'trace', 6, NULL, NULL, NULL, 2, 0, 'kernel', 2, 2, 3000000),
(11, 0, 'ops', 0, 951, 12, 953, 1, 0, 'operator', 2, 6, 3000000);
INSERT INTO stack_frame (run_id, rank, pass, frame, module, "offset", function_id, line) VALUES
(14, 0, 'ops', 0, '/opt/lib/python3.12/site-packages/torch/nn/modules/module.py', 0, 955, 1775),
(14, 0, 'ops', 1, '/home/me/models/block.py', 0, 953, 12), (14, 0, 'ops', 2, '/home/me/train.py', 0, 952, 39);
INSERT INTO stack (run_id, rank, pass, stack, depth, frame) VALUES
(14, 0, 'ops', 0, 0, 1), (14, 0, 'ops', 0, 1, 0), (14, 0, 'ops', 0, 2, 2), (14, 0, 'ops', 1, 0, 2);
UPDATE op SET stack = 0 WHERE run_id = 14 AND sequence = 0;
