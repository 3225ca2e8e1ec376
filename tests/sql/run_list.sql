-- SPDX-License-Identifier: Apache-2.0
-- Run 1 has parameters of all types and both clocks, run 2 has neither, run 3 has a host clock and dropped records, run
-- 4 a failed verification.
INSERT INTO param (run_id, name, type, value) VALUES
(1, 'n', 'int', 8), (1, 'causal', 'bool', 1), (1, 'flat', 'bool', 0), (1, 'scale', 'real', 0.5),
(1, 'name', 'text', 'a b');
INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr) VALUES
(1, 0, 'verify', 1, 'h', 'ok', 1, '', ''), (1, 0, 'time', 1, 'h', 'ok', 2, '', '');
INSERT INTO statistic (
  run_id, phase, clock, count, excluded, all_throttled, mean_ns, std_ns, median_ns, min_ns, max_ns, median_low_ns,
  median_high_ns
) VALUES
(1, 'step', 'host', 3, 0, 0, 9e6, 1e6, 9e6, 8e6, 10e6, 8e6, 10e6),
(1, 'step', 'device', 3, 0, 0, 2e6, 1e5, 2e6, 1e6, 3e6, 1.5e6, 2.5e6),
(3, 'step', 'host', 1, 2, 1, 4e6, NULL, 4e6, 4e6, 4e6, NULL, NULL);
INSERT INTO dropped_record (run_id, rank, pass, sequence, source, count, detail) VALUES
(3, 0, 'time', 0, 'store', -1, ''), (3, 1, 'time', 0, 'store', 3, '');
UPDATE run SET verification = 'unavailable' WHERE run_id = 3;
UPDATE run SET verification = 'failed', status = 'failed', detail = 'y differs' WHERE run_id = 4;
SELECT
  run_id,
  parameters,
  device_name,
  status,
  detail,
  verification,
  clock,
  count,
  step_mean_ms,
  step_std_ms,
  step_median_ms,
  step_median_low_ms,
  step_median_high_ms,
  all_throttled,
  dropped_records
FROM run_list
ORDER BY run_id;
