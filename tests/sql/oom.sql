-- SPDX-License-Identifier: Apache-2.0
-- Run 1 reports the error on two ranks, run 2 only in its status, run 3 in a pass that did not determine the status of
-- the run.
UPDATE run
SET status = 'oom', detail = 'CUDA out of memory', failed_phase = 'forward', failed_step = 2
WHERE run_id = 1;
UPDATE run SET status = 'oom' WHERE run_id = 2;
INSERT INTO out_of_memory (run_id, rank, pass, location, requested_bytes, free_bytes, peak_bytes) VALUES
(1, 0, 'time', 'device', 100, 50, 1000), (1, 1, 'time', 'device', 100, NULL, NULL),
(3, 0, 'verify', 'host', NULL, NULL, 7);
SELECT
  run_id,
  rank,
  pass,
  location,
  requested_bytes,
  free_bytes,
  peak_bytes,
  failed_phase,
  failed_step,
  detail
FROM oom
ORDER BY run_id, rank;
