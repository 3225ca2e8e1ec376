-- SPDX-License-Identifier: Apache-2.0
-- Memory of a step that pass predict finds without computing it, beside what was measured.

-- Predicted and measured peak of the allocated memory, for ranks whose memory was predicted.
CREATE VIEW memory_prediction AS
SELECT
  -- run
  p.run_id,
  -- rank
  p.rank,
  -- cuda or cpu
  p.device,
  -- predicted peak
  p.predicted_bytes,
  -- measured peak: of the memory pass, otherwise that of the caching allocator in the time pass; NULL if neither is
  -- complete
  p.measured_bytes,
  -- how much larger the prediction is, relative to the measurement
  1.0 * p.predicted_bytes / nullif(p.measured_bytes, 0) - 1 AS error,
  -- memory of the device that the run used; NULL if unknown
  p.device_bytes,
  -- 1 if the predicted peak fits into it; NULL if it is unknown
  p.predicted_bytes <= p.device_bytes AS fits
FROM (
  SELECT
    m.run_id,
    m.rank,
    m.device,
    sum(CASE m.pass WHEN 'predict' THEN m.bytes END) AS predicted_bytes,
    coalesce(
      CASE
        WHEN (SELECT k.status FROM rank k WHERE k.run_id = m.run_id AND k.rank = m.rank AND k.pass = 'memory') = 'ok'
          THEN sum(CASE m.pass WHEN 'memory' THEN m.bytes END)
      END,
      (
        SELECT nullif(k.allocated_peak_bytes, 0)
        FROM rank k
        WHERE k.run_id = m.run_id AND k.rank = m.rank AND k.pass = 'time' AND k.status = 'ok'
      )
    ) AS measured_bytes,
    (
      SELECT max(d.memory_bytes)
      FROM rank k
      JOIN device d ON d.device_id = k.device_id
      WHERE k.run_id = m.run_id AND k.rank = m.rank AND d.kind = m.device
    ) AS device_bytes
  FROM memory_part m
  GROUP BY m.run_id, m.rank, m.device
) p
WHERE p.predicted_bytes IS NOT NULL;

-- What the predicted and the measured peak consist of.
CREATE VIEW memory_prediction_part AS
SELECT
  -- run
  p.run_id,
  -- rank
  p.rank,
  -- cuda or cpu
  p.device,
  -- parameters, gradients, optimizer state, kept by blocks (for the backward pass), alive in a block, head and loss,
  -- workspace, communication, inputs, or other
  p.part,
  -- 0, 1, 2 ... in this order
  min(p.part_order) AS part_order,
  -- bytes at the predicted peak
  sum(CASE p.pass WHEN 'predict' THEN p.bytes ELSE 0 END) AS predicted_bytes,
  -- bytes at the peak of the memory pass; NULL without this pass
  CASE
    WHEN
      EXISTS (
        SELECT 1
        FROM memory_part o
        WHERE o.run_id = p.run_id AND o.rank = p.rank AND o.device = p.device AND o.pass = 'memory'
      )
      THEN sum(CASE p.pass WHEN 'memory' THEN p.bytes ELSE 0 END)
  END AS measured_bytes
FROM (
  SELECT
    m.run_id,
    m.rank,
    m.device,
    m.pass,
    m.bytes,
    c.column2 AS part_order,
    c.column3 AS part
  FROM memory_part m
  JOIN (
    VALUES
    ('parameter', 0, 'parameters'),
    ('gradient', 1, 'gradients'),
    ('optimizer_state', 2, 'optimizer state'),
    ('kept', 3, 'kept by blocks'),
    ('alive', 4, 'alive in a block'),
    ('loss', 5, 'head and loss'),
    ('workspace', 6, 'workspace'),
    ('communication', 7, 'communication'),
    ('input', 8, 'inputs'),
    ('other', 9, 'other')
  ) c
    ON c.column1 = CASE
      WHEN
        m.category IN ('parameter', 'gradient', 'optimizer_state', 'workspace', 'communication', 'input')
        THEN m.category
      WHEN m.scope LIKE '%*' AND m.phase = 'forward' THEN 'kept'
      WHEN m.scope LIKE '%*' THEN 'alive'
      WHEN m.scope IN ('head', 'loss') THEN 'loss'
      ELSE 'other'
    END
  WHERE m.pass IN ('memory', 'predict')
) p
JOIN memory_prediction r ON r.run_id = p.run_id AND r.rank = p.rank AND r.device = p.device
GROUP BY p.run_id, p.rank, p.device, p.part;

-- Runs with a choice of activation checkpoints.
CREATE VIEW checkpoint_run AS
WITH choice AS (
  SELECT
    r.run_id,
    r.suite_case,
    r.status,
    max(CASE p.name WHEN 'checkpoint' THEN p.text END) AS checkpoint,
    max(CASE p.name WHEN 'checkpoint_blocks' THEN p.value END) AS blocks,
    max(CASE p.name WHEN 'checkpoint_feed_forward' THEN p.value END) AS feed_forward,
    r.workload || ' ' || r.device_kind || ' ' || r.ranks || ' ' || r.warmup || ' ' || r.steps || ' ' || r.seed || ' '
    || coalesce(
      (
        SELECT group_concat(o.name || '=' || o.text, ' ')
        FROM (SELECT * FROM run_parameter WHERE run_id = r.run_id ORDER BY name) o
        WHERE o.name NOT IN ('checkpoint', 'checkpoint_blocks', 'checkpoint_feed_forward')
      ),
      ''
    ) AS comparison_group
  FROM run r
  JOIN run_parameter p ON p.run_id = r.run_id
  WHERE p.name IN ('checkpoint', 'checkpoint_blocks', 'checkpoint_feed_forward')
  GROUP BY r.run_id
)
SELECT
  -- run
  c.run_id,
  -- name of the case within the suite
  c.suite_case,
  -- status
  c.status,
  -- what runs agree on that differ in their checkpoints only
  c.comparison_group,
  -- none, blocks, nested, selective ...
  c.checkpoint,
  -- blocks of the smallest segment; NULL for choices without segments
  CASE WHEN c.checkpoint IN ('blocks', 'nested') THEN c.blocks END AS checkpoint_blocks,
  -- selective: blocks in which gate and up are computed again as well; NULL for other choices
  CASE c.checkpoint WHEN 'selective' THEN coalesce(c.feed_forward, 0) END AS checkpoint_feed_forward,
  -- the choice in words
  CASE
    WHEN c.checkpoint IN ('blocks', 'nested')
      THEN c.checkpoint || ' of ' || c.blocks
    WHEN c.checkpoint = 'selective' AND c.feed_forward > 0
      THEN printf('selective, gate and up of %d', c.feed_forward)
    ELSE c.checkpoint
  END AS choice,
  -- as in memory_prediction, of rank 0
  m.predicted_bytes,
  -- as in memory_prediction
  m.measured_bytes,
  -- as in memory_prediction
  m.error,
  -- as in memory_prediction
  m.device_bytes,
  -- as in memory_prediction
  m.fits,
  -- time of a step; NULL without the time pass
  t.time_ms AS step_ms,
  -- time of the phase recompute
  y.time_ms AS recompute_ms,
  -- loss after the last step of the time pass
  l.value AS loss,
  -- 1 if the loss is bitwise that of the newest run of the group without checkpoints; NULL if either is unknown
  l.value = (
    SELECT n.value
    FROM choice o
    JOIN reported_metric n ON n.run_id = o.run_id AND n.rank = 0 AND n.pass = 'time' AND n.name = 'loss_last'
    WHERE o.comparison_group = c.comparison_group AND o.checkpoint = 'none'
    ORDER BY o.run_id DESC
    LIMIT 1
  ) AS has_equal_loss
FROM choice c
LEFT JOIN memory_prediction m ON m.run_id = c.run_id AND m.rank = 0
LEFT JOIN phase_time t ON t.run_id = c.run_id AND t.phase = 'step'
LEFT JOIN phase_time y ON y.run_id = c.run_id AND y.phase = 'recompute'
LEFT JOIN reported_metric l ON l.run_id = c.run_id AND l.rank = 0 AND l.pass = 'time' AND l.name = 'loss_last';

-- Work of rank 0 in the phases of a step, as declared, and what checkpoints compute again.
CREATE VIEW predicted_work AS
SELECT
  -- run
  w.run_id,
  -- phase, or `recompute`
  w.phase,
  -- floating-point operations
  w.flops,
  -- bytes moved
  w.bytes,
  -- data type of matrix products: bf16 under autocast, otherwise that of the weights; NULL if unknown
  coalesce(
    (SELECT 'bf16' FROM run_parameter p WHERE p.run_id = w.run_id AND p.name = 'autocast' AND p.value = 1),
    (SELECT p.text FROM run_parameter p WHERE p.run_id = w.run_id AND p.name = 'dtype')
  ) AS product_type
FROM (
  SELECT
    run_id,
    phase,
    flops,
    bytes
  FROM work
  WHERE rank = 0
  UNION ALL
  SELECT
    m.run_id,
    'recompute',
    max(m.value),
    0
  FROM metric m
  WHERE m.rank = 0 AND m.name = 'recompute_flops'
  GROUP BY m.run_id
) w;

-- What of the measured peak grows with the batch: everything but parameters, their gradients and the optimizer state.
CREATE VIEW memory_scaling AS
SELECT
  -- run with a memory pass
  m.run_id,
  -- rank
  m.rank,
  -- cuda or cpu
  m.device,
  -- parameters, gradients, optimizer state and buffers of collectives
  sum(CASE WHEN m.is_fixed THEN m.bytes ELSE 0 END) AS fixed_bytes,
  -- the rest: activations, inputs, workspace
  sum(CASE WHEN m.is_fixed THEN 0 ELSE m.bytes END) AS scaled_bytes
FROM (
  SELECT
    *,
    category IN ('parameter', 'gradient', 'optimizer_state', 'communication') AS is_fixed
  FROM memory_part
  WHERE pass = 'memory'
) m
GROUP BY m.run_id, m.rank, m.device;
