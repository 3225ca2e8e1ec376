-- SPDX-License-Identifier: Apache-2.0
UPDATE run
SET
  status = 'crashed',
  detail = 'signal 11',
  signal = 11,
  failed_rank = 1,
  failed_pass = 'time',
  failed_phase = 'forward',
  failed_step = 4
WHERE run_id = 1;
INSERT INTO rank (run_id, rank, pass, pid, host, status, stdout, stderr) VALUES
(1, 0, 'time', 1, 'h', 'ok', '', 'other rank'), (1, 1, 'verify', 1, 'h', 'ok', '', 'other pass'),
(1, 1, 'time', 1, 'h', 'crashed', '', replace(hex(zeroblob(500)), '00', 'ab') || 'end');
UPDATE run SET status = 'running' WHERE run_id = 2;
UPDATE run SET status = 'skipped' WHERE run_id = 3;
UPDATE run SET status = 'oom', exit_code = 3 WHERE run_id = 4;
SELECT
  run_id,
  status,
  detail,
  failed_rank,
  failed_pass,
  failed_phase,
  failed_step,
  exit_code,
  signal,
  length(stderr_tail) AS length,
  substr(stderr_tail, -5) AS tail
FROM failures
ORDER BY run_id;
