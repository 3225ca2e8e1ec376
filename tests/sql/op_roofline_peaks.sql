-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- The peak of the cache (40 GB/s, a buffer of 1 MB) is that of operators that are faster than the memory and whose
-- calls fit; the peak of tf32 (400 GFLOP/s) is that of products of fp32 that exceed fp32.
UPDATE run SET status = 'ok', family = 'peak' WHERE run_id IN (3, 4);
UPDATE param SET value = 'cache' WHERE run_id = 3 AND name = 'kind';
INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) VALUES
(3, 0, 'time', 0, 'run', -1, '', 'buffer_bytes', 1e6, 'B');
UPDATE param SET value = CASE name WHEN 'kind' THEN 'matmul' ELSE 'tf32' END WHERE run_id = 4;
UPDATE work SET flops = 8e9 WHERE run_id = 4;
UPDATE op_work SET calls = 2, bytes = 9e5, host_ns = 60000, flops = 1e3 WHERE sequence = 2;
UPDATE op_work SET calls = 1, bytes = 2e6, host_ns = 64000, flops = 1e3 WHERE sequence = 6;
SELECT
  o.name,
  o.arguments,
  o.is_matrix,
  o.peak_flop_rate,
  o.lower_precision_rate,
  o.peak_byte_rate,
  o.from_cache,
  round(o.attained, 4) AS attained,
  v.verdict,
  v.reason
FROM op_roofline o
JOIN op_verdict v ON v.phase = o.phase AND v.name = o.name AND v.arguments = o.arguments
WHERE o.dtype = 'f32' AND o.kind <> 'collective'
ORDER BY o.name, o.arguments;
