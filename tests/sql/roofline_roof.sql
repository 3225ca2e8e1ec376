-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- The types of matrix products; those without a measured peak have none. Then also the peaks of the cache and of tf32,
-- which some operators reach.
SELECT * FROM roofline_roof ORDER BY kind, label;
UPDATE run SET status = 'ok', family = 'peak' WHERE run_id IN (3, 4);
UPDATE param SET value = 'cache' WHERE run_id = 3 AND name = 'kind';
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(3, 0, 'time', 0, 'run', -1, '', 'buffer_bytes', 1e6, 'B');
UPDATE param SET value = CASE name WHEN 'kind' THEN 'matmul' ELSE 'tf32' END WHERE run_id = 4;
UPDATE work SET flops = 8e9 WHERE run_id = 4;
UPDATE op_work SET calls = 2, bytes = 9e5, host_ns = 60000, flops = 1e3 WHERE sequence = 2;
SELECT
  label,
  kind,
  rate
FROM roofline_roof ORDER BY kind, label;
