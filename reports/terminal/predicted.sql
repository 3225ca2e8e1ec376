-- SPDX-License-Identifier: Apache-2.0
-- The parts of the predicted and the measured peak of the first rank, and their sums.
-- column part: title="memory at its peak"
-- column predicted: format="bytes"
-- column measured: format="bytes", optional=true
-- column difference: format="percent", digits=1, optional=true, omit=1
SELECT
  p.part,
  p.predicted,
  p.measured,
  1.0 * p.predicted / nullif(p.measured, 0) - 1 AS difference
FROM (
  SELECT
    part,
    part_order,
    predicted_bytes AS predicted,
    measured_bytes AS measured,
    rank
  FROM memory_prediction_part
  WHERE run_id = :run AND predicted_bytes + coalesce(measured_bytes, 0) > 0
  UNION ALL
  SELECT
    'all',
    99,
    predicted_bytes,
    measured_bytes,
    rank
  FROM memory_prediction
  WHERE run_id = :run
) p
WHERE p.rank = (SELECT min(rank) FROM memory_prediction WHERE run_id = :run)
ORDER BY p.part_order
