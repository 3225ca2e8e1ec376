-- SPDX-License-Identifier: Apache-2.0
-- caption: Models.
-- column size: title="size"
-- column parameters: title="parameters", unit="millions", digits=1
-- column d_model: title="d_model", format="plain"
-- column d_ff: title="d_ff", format="plain"
-- column layers: title="layers"
-- column heads: title="heads"
-- column vocab_size: title="vocabulary"
-- column batch: title="batch"
-- column contexts: title="contexts", align="left"
-- note: Dimensions as reported by the workload, otherwise as given by its parameters. – means: determined by the size.
-- empty: No Transformer runs: `kymo suite run cs336 --filter '^(timing|kernels|memory)'` adds this data.
WITH dimension AS (
  SELECT
    run_id,
    name,
    value
  FROM reported_metric
  WHERE level = 'run' AND name IN ('parameters', 'd_model', 'd_ff', 'layers', 'heads')
  UNION ALL
  SELECT
    run_id,
    name,
    value
  FROM run_parameter
  WHERE name IN ('d_model', 'd_ff', 'layers', 'heads', 'vocab_size') AND value <> 0
)
SELECT
  m.size,
  max(CASE WHEN p.name = 'parameters' THEN p.value / 1e6 END) AS parameters,
  CAST(max(CASE WHEN p.name = 'd_model' THEN p.value END) AS INTEGER) AS d_model,
  CAST(max(CASE WHEN p.name = 'd_ff' THEN p.value END) AS INTEGER) AS d_ff,
  CAST(max(CASE WHEN p.name = 'layers' THEN p.value END) AS INTEGER) AS layers,
  CAST(max(CASE WHEN p.name = 'heads' THEN p.value END) AS INTEGER) AS heads,
  CAST(max(CASE WHEN p.name = 'vocab_size' THEN p.value END) AS INTEGER) AS vocab_size,
  m.batch,
  (
    SELECT group_concat(context, ', ')
    FROM (
      SELECT DISTINCT n.context
      FROM selected_run y
      JOIN transformer_run n ON n.run_id = y.run_id
      WHERE n.size = m.size AND n.batch = m.batch
      ORDER BY n.context
    )
  ) AS contexts
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id
LEFT JOIN dimension p ON p.run_id = s.run_id
GROUP BY m.size, m.batch
ORDER BY m.size_order, m.batch
