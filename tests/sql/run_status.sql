-- SPDX-License-Identifier: Apache-2.0
UPDATE run SET verification = 'passed' WHERE run_id = 1;
UPDATE run SET status = 'oom', detail = 'CUDA out of memory', verification = 'unavailable' WHERE run_id = 2;
UPDATE run SET status = 'failed', detail = 'y differs', verification = 'failed' WHERE run_id = 3;
INSERT INTO verification (run_id, rank, name, outcome, reference, detail) VALUES
(2, 0, 'y', 'unavailable', 'float64', 'does not fit');
SELECT
  run_id,
  status_label,
  status_detail,
  verified,
  unverified_reason
FROM run_status
ORDER BY run_id;
-- The run ended before its verification.
UPDATE run SET status = 'crashed', passes = 'verify,time' WHERE run_id = 4;
SELECT
  status_label,
  verified
FROM run_status WHERE run_id = 4;
