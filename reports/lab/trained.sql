-- SPDX-License-Identifier: Apache-2.0
-- caption: What was trained.
-- column property: title=""
-- column value: title=""
-- empty: No runs.
WITH first_run AS (
  SELECT min(t.run_id) AS run_id
  FROM selected_run s
  JOIN training_run t ON t.run_id = s.run_id
  WHERE t.is_observed = 0
),
facts AS (
  SELECT DISTINCT
    m.name,
    m.value
  FROM first_run f
  JOIN reported_metric m ON m.run_id = f.run_id AND m.level = 'run' AND m.pass = 'time' AND m.rank = 0
  UNION
  SELECT
    p.name,
    p.text
  FROM first_run f
  JOIN run_parameter p ON p.run_id = f.run_id
  WHERE p.name NOT IN ('d_model', 'd_ff', 'layers', 'heads')
)
SELECT
  'device' AS property,
  (SELECT l.device_name FROM run_list l JOIN first_run f ON f.run_id = l.run_id) AS value
FROM facts
WHERE name = 'parameters'
UNION ALL
SELECT * FROM (
  SELECT
    CASE name
      WHEN 'parameters' THEN 'parameters of the model'
      WHEN 'd_model' THEN 'model dimension'
      WHEN 'd_ff' THEN 'feed-forward dimension'
      WHEN 'layers' THEN 'blocks'
      WHEN 'heads' THEN 'attention heads'
      WHEN 'context' THEN 'sequence length in bytes'
      WHEN 'batch' THEN 'sequences per batch'
      WHEN 'learning_rate' THEN 'learning rate'
      WHEN 'lr_warmup' THEN 'warm-up of the learning rate, in steps'
      WHEN 'target_loss' THEN 'target: loss on held-out text, in nat per byte'
      WHEN 'text_files' THEN 'Python sources'
      WHEN 'text_bytes' THEN 'bytes of text, of which 5 % are held out'
      ELSE 'SHA-256 of the text'
    END AS property,
    CASE
      WHEN typeof(value) = 'real' AND value >= 1 AND value = CAST(value AS INTEGER)
        THEN printf('%,d', CAST(value AS INTEGER))
      ELSE CAST(value AS TEXT)
    END AS value
  FROM facts
  WHERE
    name IN (
      'parameters', 'd_model', 'd_ff', 'layers', 'heads', 'context', 'batch', 'learning_rate', 'lr_warmup',
      'target_loss', 'text_files', 'text_sha256'
    )
    OR (name = 'text_bytes' AND typeof(value) = 'real')
  ORDER BY
    CASE name
      WHEN 'parameters' THEN 1
      WHEN 'd_model' THEN 2
      WHEN 'd_ff' THEN 3
      WHEN 'layers' THEN 4
      WHEN 'heads' THEN 5
      WHEN 'context' THEN 6
      WHEN 'batch' THEN 7
      WHEN 'learning_rate' THEN 8
      WHEN 'lr_warmup' THEN 9
      WHEN 'target_loss' THEN 10
      WHEN 'text_files' THEN 11
      WHEN 'text_bytes' THEN 12
      ELSE 13
    END
)
