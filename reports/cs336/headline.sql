-- SPDX-License-Identifier: Apache-2.0
-- caption: Headline numbers.
-- column what: title="number"
-- column value: title="value"
-- column setting: title="case"
-- empty: None of the headline numbers is in this database.
WITH timed AS (
  SELECT
    m.size || ', context ' || m.context || ', ' || m.precision AS setting,
    t.median_ms,
    t.std_ms,
    row_number() OVER (ORDER BY m.size_order DESC, m.context DESC, m.run_id DESC) AS position
  FROM selected_run s
  JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'timing' AND m.status = 'ok'
  JOIN phase_time t ON t.run_id = m.run_id AND t.phase = 'step'
),
softmax AS (
  SELECT
    m.size || ', context ' || m.context AS setting,
    b.time_share,
    row_number() OVER (ORDER BY m.size_order DESC, m.context DESC, m.run_id DESC) AS position
  FROM selected_run s
  JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'kernels'
  JOIN attention_breakdown b ON b.run_id = m.run_id AND b.rank = 0 AND b.part = 'softmax'
),
peak AS (
  SELECT
    m.size || ', context ' || m.context || ', ' || m.precision AS setting,
    p.peak_allocated_bytes AS bytes,
    row_number() OVER (ORDER BY p.peak_allocated_bytes DESC, m.run_id) AS position
  FROM selected_run s
  JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'memory' AND m.status = 'ok' AND m.mode = 'train'
  JOIN memory_peak p ON p.run_id = m.run_id AND p.rank = 0 AND p.device = m.device_kind AND p.phase = 'step'
),
attention AS (
  SELECT
    a.implementation || ', ' || a.dtype || ', head dim ' || a.head_dim || ', length ' || a.seq AS setting,
    t.tflop_per_s AS rate,
    row_number() OVER (ORDER BY t.tflop_per_s DESC, a.run_id) AS position
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite_case LIKE 'flash%' AND r.status = 'ok'
  JOIN attention_run a ON a.run_id = r.run_id
  JOIN attention_time t ON t.run_id = r.run_id AND t.phase IN ('forward', 'backward') AND t.tflop_per_s > 0
),
parallel AS (
  SELECT
    x.strategy || ' (' || x.setting || ')' AS setting,
    x.speedup,
    row_number() OVER (ORDER BY x.gradient_bytes DESC, x.speedup DESC, x.run_id) AS position
  FROM selected_run s
  JOIN ddp_summary x
    ON x.run_id = s.run_id
    AND x.family = 'data_parallel'
    AND x.communicate = 1
    AND x.speedup IS NOT NULL
),
compiled AS (
  SELECT
    m.size || ', context ' || m.context || ', ' || m.precision AS setting,
    max(CASE p.value WHEN 'none' THEN t.median_ms END)
    / max(CASE p.value WHEN 'default' THEN t.median_ms END) AS speedup,
    row_number() OVER (ORDER BY m.size_order DESC, m.context DESC, m.precision) AS position
  FROM selected_run s
  JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'compiled-model' AND m.status = 'ok'
  JOIN run_parameter p ON p.run_id = m.run_id AND p.name = 'compile' AND p.value IN ('none', 'default')
  JOIN phase_time t ON t.run_id = m.run_id AND t.phase = 'step'
  GROUP BY m.size, m.size_order, m.context, m.precision
  HAVING count(DISTINCT p.value) = 2
)
SELECT
  'training step of the largest model' AS what,
  printf('%.4g ms ± %.2g ms', median_ms, std_ms) AS value,
  setting
FROM timed
WHERE position = 1
UNION ALL
SELECT
  'share of the softmax in attention',
  printf('%.1f %%', 100 * time_share),
  setting
FROM softmax
WHERE position = 1
UNION ALL
SELECT
  'highest peak memory of a training step',
  CASE
    WHEN bytes < 1073741824 THEN printf('%.3g MiB', bytes / 1048576.0) ELSE printf('%.3g GiB', bytes / 1073741824.0)
  END,
  setting
FROM peak
WHERE position = 1
UNION ALL
SELECT
  'highest rate of an attention kernel',
  printf('%.3g TFLOP/s', rate),
  setting
FROM attention
WHERE position = 1
UNION ALL
SELECT
  'speedup of the fastest data-parallel strategy over the first',
  printf('%.3g', speedup),
  setting
FROM parallel
WHERE position = 1
UNION ALL
SELECT
  'speedup of a training step by torch.compile',
  printf('%.3g', speedup),
  setting
FROM compiled
WHERE position = 1 AND NOT EXISTS (SELECT 1 FROM parallel)
