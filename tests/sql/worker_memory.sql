-- SPDX-License-Identifier: Apache-2.0
INSERT INTO rank (
  run_id, rank, pass, pid, host, status, device_id, resident_peak_bytes, allocated_peak_bytes, reserved_peak_bytes,
  stdout, stderr
) VALUES
(1, 0, 'time', 1, 'h', 'ok', 2, 10, 30, 40, '', ''), (1, 1, 'time', 1, 'h', 'crashed', NULL, NULL, NULL, NULL, '', ''),
(2, 0, 'time', 1, 'h', 'ok', 1, 10, 0, 0, '', '');
SELECT * FROM worker_memory ORDER BY run_id, rank;
