-- SPDX-License-Identifier: Apache-2.0
-- Runs of one model that differ in their checkpoints only, of those the group with the most segment sizes and the
-- largest memory; the newest run of each choice.
SELECT
  c.*,
  m.size || ', batch ' || m.batch || ', context ' || m.context || ', ' || m.precision AS setting,
  x.value AS layers
FROM (
  SELECT
    k.*,
    row_number() OVER (
      PARTITION BY k.comparison_group, k.choice ORDER BY k.run_id DESC
    ) AS position
  FROM selected_run s
  JOIN checkpoint_run k ON k.run_id = s.run_id
) c
JOIN transformer_run m ON m.run_id = c.run_id
LEFT JOIN reported_metric x
  ON x.run_id = c.run_id
  AND x.rank = 0
  AND x.name = 'layers'
  AND x.pass = (SELECT max(o.pass) FROM reported_metric o WHERE o.run_id = c.run_id AND o.name = 'layers')
WHERE
  c.position = 1
  AND c.comparison_group = (
    SELECT o.comparison_group
    FROM selected_run s
    JOIN checkpoint_run o ON o.run_id = s.run_id
    WHERE o.checkpoint = 'blocks'
    GROUP BY o.comparison_group
    ORDER BY count(DISTINCT o.checkpoint_blocks) DESC, max(coalesce(o.measured_bytes, o.predicted_bytes)) DESC
    LIMIT 1
  )
