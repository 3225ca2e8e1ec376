-- SPDX-License-Identifier: Apache-2.0
-- The marks and the roofs of roofline charts.

-- Operators with work of each module, per step, phases and arguments together. Of a GPU run, only operators that
-- launched kernels are compared with the peaks of the GPU; the others have the class `no kernels` and no operations.
CREATE VIEW roofline_mark AS
SELECT
  -- run
  o.run_id,
  -- rank that called it
  o.rank,
  -- pass in which it was recorded
  o.pass,
  -- operator and module: `mm, block/feed_forward`
  replace(o.name, 'aten::', '') || coalesce(', ' || o.module, '') AS label,
  -- kind as in op_work, or `no kernels`
  CASE WHEN r.device_kind = 'cuda' AND o.clock = 'host' THEN 'no kernels' ELSE o.kind END AS class,
  -- data type as in op_work
  o.dtype AS detail,
  -- floating-point operations that were executed; NULL if unknown
  sum(CASE WHEN r.device_kind <> 'cuda' OR o.clock = 'device' THEN o.flops END) AS flops,
  -- minimum bytes; NULL if unknown
  sum(o.bytes) AS bytes,
  -- time of the kernels, or of the whole calls on the host
  sum(o.time_ms) AS ms
FROM op_roofline o
JOIN run r ON r.run_id = o.run_id
GROUP BY o.run_id, o.rank, o.pass, o.name, o.module, o.kind, o.dtype, o.clock;

-- Measured peaks of the device that limit the operators of a run; no rows if they were not measured.
CREATE VIEW roofline_roof AS
SELECT DISTINCT
  -- run
  o.run_id,
  -- rank
  o.rank,
  -- pass
  o.pass,
  -- data type of the matrix products that reached it, as in device_peak; `memory` or `cache` for bytes
  p.dtype AS label,
  -- compute or memory
  'compute' AS kind,
  -- FLOP/s or B/s
  p.rate
FROM op_roofline o
JOIN rank k ON k.run_id = o.run_id AND k.rank = o.rank AND k.pass = o.pass
JOIN device_peak p ON p.device_id = k.device_id AND p.kind = 'matmul' AND p.rate = o.peak_flop_rate
WHERE
  p.dtype IN (CASE o.dtype WHEN 'f16' THEN 'fp16' WHEN 'f8' THEN 'fp8' WHEN 'f32' THEN 'fp32' ELSE o.dtype END, 'tf32')
  AND (o.is_matrix OR o.dtype = 'f32')
UNION ALL
SELECT DISTINCT
  o.run_id,
  o.rank,
  o.pass,
  CASE WHEN o.from_cache THEN 'cache' ELSE 'memory' END,
  'memory',
  o.peak_byte_rate
FROM op_roofline o
WHERE o.peak_byte_rate IS NOT NULL;
