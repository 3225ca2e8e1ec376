-- SPDX-License-Identifier: Apache-2.0
-- caption: What the predicted and the measured peak consist of.
-- pivot part: values=["bytes"], order="part_order"
-- column title: title="run"
-- column peak: title="peak"
-- column run_id: hidden=true
-- column bytes: title="{}", format="bytes"
-- note: Kept by blocks: for the backward pass. Alive in a block: allocated while it is computed again or
--   differentiated.
-- empty: No predicted memory: the pass `predict` predicts it.
SELECT
  s.title,
  b.peak,
  p.run_id,
  p.part,
  p.part_order,
  -- a part without memory in any row has no column
  CASE
    WHEN max(p.predicted_bytes + coalesce(p.measured_bytes, 0)) OVER (PARTITION BY p.part) > 0
      THEN CASE b.peak WHEN 'predicted' THEN p.predicted_bytes ELSE p.measured_bytes END
  END AS bytes
FROM selected_run s
JOIN memory_prediction_part p ON p.run_id = s.run_id AND p.rank = 0
JOIN (
  SELECT 'predicted' AS peak
  UNION ALL
  SELECT 'measured'
) b
WHERE b.peak = 'predicted' OR p.measured_bytes IS NOT NULL
ORDER BY p.run_id, b.peak DESC
