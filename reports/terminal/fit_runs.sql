-- SPDX-License-Identifier: Apache-2.0
-- The peak of a step by multiples of the smallest measured batch: along the line through the runs with the smallest and
-- the largest batch, or, of one batch, as if everything but parameters, gradients and optimizer state grew with it.
-- column batch: title="batch", align="right"
-- column predicted_bytes: title="predicted peak", format="bytes"
-- column fits: title="fits"
WITH RECURSIVE point AS (
  SELECT
    s.fixed_bytes + s.scaled_bytes AS total,
    s.scaled_bytes,
    g.value ->> 'batch' AS batch
  FROM json_each(:runs) g
  JOIN memory_scaling s ON s.run_id = g.value ->> 'run' AND s.rank = 0
),
line AS (
  SELECT
    f.total,
    f.batch,
    CASE
      WHEN l.batch > f.batch THEN 1.0 * (l.total - f.total) / (1.0 * l.batch / f.batch - 1)
      ELSE f.scaled_bytes
    END AS slope
  FROM (SELECT * FROM point ORDER BY batch, total LIMIT 1) f
  JOIN (SELECT * FROM point ORDER BY batch DESC, total DESC LIMIT 1) l
),
multiple (factor) AS (
  SELECT 1
  UNION ALL
  SELECT factor * 2
  FROM multiple
  WHERE factor < 4096
),
predicted AS (
  SELECT
    m.factor,
    l.batch,
    CAST(l.total + (m.factor - 1) * l.slope AS INTEGER) AS bytes
  FROM line l
  CROSS JOIN multiple m
)
SELECT
  coalesce(CAST(p.batch * p.factor AS TEXT), '×' || p.factor) AS batch,
  p.bytes AS predicted_bytes,
  CASE WHEN p.bytes <= CAST(:memory AS INTEGER) THEN 'yes' ELSE 'no' END AS fits
FROM predicted p
WHERE p.factor = 1 OR (SELECT o.bytes FROM predicted o WHERE o.factor = p.factor / 2) <= CAST(:memory AS INTEGER)
ORDER BY p.factor
