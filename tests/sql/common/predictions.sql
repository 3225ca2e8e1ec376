-- SPDX-License-Identifier: Apache-2.0
-- Predictions of the runs 1 to 4, of which 1 was measured by the memory pass, 2 by the caching allocator, 3 ran out of
-- memory, and 4 was only predicted; for cases with the line `-- with: predictions`.
UPDATE run SET device_kind = 'cuda';
UPDATE run SET status = 'oom' WHERE run_id = 3;
INSERT INTO rank (
  run_id, rank, pass, pid, host, status, device_id, resident_peak_bytes, allocated_peak_bytes, reserved_peak_bytes,
  stdout, stderr
) VALUES
(1, 0, 'time', 1, 'h', 'ok', 2, 10, 1999, 2000, '', ''),
(1, 0, 'memory', 1, 'h', 'ok', 2, 10, 1000, 1000, '', ''),
(1, 0, 'predict', 1, 'h', 'ok', NULL, 10, NULL, NULL, '', ''),
(2, 0, 'time', 1, 'h', 'ok', 2, 10, 1600, 1700, '', ''),
(2, 0, 'predict', 1, 'h', 'ok', NULL, 10, NULL, NULL, '', ''),
(3, 0, 'memory', 1, 'h', 'oom', 2, 10, 1990, 2000, '', ''),
(3, 0, 'predict', 1, 'h', 'ok', NULL, 10, NULL, NULL, '', ''),
(4, 0, 'predict', 1, 'h', 'ok', NULL, 10, NULL, NULL, '', '');
INSERT INTO memory_part (run_id, rank, pass, device, category, phase, scope, bytes) VALUES
(1, 0, 'predict', 'cuda', 'parameter', 'outside', '', 100),
(1, 0, 'predict', 'cuda', 'gradient', 'backward', 'block_*', 50),
(1, 0, 'predict', 'cuda', 'optimizer_state', 'outside', '', 200),
(1, 0, 'predict', 'cuda', 'activation', 'forward', 'block_*', 300),
(1, 0, 'predict', 'cuda', 'activation', 'recompute', 'block_*', 30),
(1, 0, 'predict', 'cuda', 'unknown', 'backward', 'block_*', 20),
(1, 0, 'predict', 'cuda', 'activation', 'forward', 'loss', 60),
(1, 0, 'predict', 'cuda', 'unknown', 'backward', 'head', 40),
(1, 0, 'predict', 'cuda', 'workspace', 'forward', 'block_*', 100),
(1, 0, 'predict', 'cuda', 'communication', 'forward', 'block_*', 10),
(1, 0, 'predict', 'cuda', 'input', 'outside', '', 5),
(1, 0, 'predict', 'cuda', 'activation', 'forward', 'embedding', 95),
(1, 0, 'memory', 'cuda', 'parameter', 'outside', '', 100),
(1, 0, 'memory', 'cuda', 'activation', 'forward', 'block_*', 900),
(2, 0, 'predict', 'cuda', 'parameter', 'outside', '', 1520),
(3, 0, 'predict', 'cuda', 'parameter', 'outside', '', 2001),
(3, 0, 'memory', 'cuda', 'parameter', 'outside', '', 1990),
(4, 0, 'predict', 'cuda', 'parameter', 'outside', '', 10);
