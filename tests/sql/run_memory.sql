-- SPDX-License-Identifier: Apache-2.0
INSERT INTO rank (
  run_id, rank, pass, pid, host, status, device_id, resident_peak_bytes, allocated_peak_bytes, reserved_peak_bytes,
  stdout, stderr
) VALUES
(1, 0, 'time', 1, 'h', 'ok', 2, 10, 30, 40, '', ''), (1, 1, 'time', 1, 'h', 'ok', 2, 20, 15, NULL, '', ''),
(1, 0, 'verify', 1, 'h', 'ok', 2, 99, 99, 99, '', '');
SELECT * FROM run_memory;
