-- SPDX-License-Identifier: Apache-2.0
-- Compilations of run 14, besides the rows of `collected`: in two passes and on two ranks, before and within measured
-- steps, with and without a path and a line.
INSERT INTO compilation
(
  run_id, rank, pass, sequence, kind, step, program_step, start_ns, duration_ns, inductor_ns, function, file, line,
  reason
)
VALUES
(14, 0, 'ops', 0, 'compilation', -1, -1, 50000, 9000000, NULL, 'loss', '/home/me/train.py', 3, ''),
(14, 0, 'trace', 0, 'graph_break', -1, 0, 90000, 0, NULL, 'forward', '/home/me/train.py', 12, 'Unsupported: print'),
(14, 0, 'trace', 1, 'compilation', -1, 0, 100000, 8000000, 6000000, 'forward', '/home/me/train.py', 10, ''),
(14, 0, 'trace', 2, 'backward', -1, 0, 9000000, 2000000, 1500000, 'forward', '/home/me/train.py', 10, ''),
(14, 0, 'trace', 3, 'graph_break', 1, 6, 20000000, 0, NULL, 'forward', '/home/me/train.py', 12, 'Unsupported: print'),
(
  14, 0, 'trace', 4, 'recompilation', 1, 6, 20000000, 2000000, 1000000, 'forward', '/home/me/train.py', 10,
  'size mismatch of x: expected 3, actual 4'
),
(14, 0, 'trace', 5, 'failure', 2, 7, 22000000, 500000, NULL, 'helper', '', NULL, 'Unsupported: generator'),
(14, 1, 'trace', 0, 'runtime', 2, 7, 22000000, 250000, NULL, 'forward', 'model.py', 1, '');
