-- SPDX-License-Identifier: Apache-2.0
-- caption: Share of matmuls in the device time: inference, forward and backward, and the whole training step.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column forward_share: title="inference", unit="%", digits=1
-- column both_share: title="forward and backward", unit="%", digits=1
-- column train_share: title="training step", unit="%", digits=1
-- column grows: title="fastest-growing other class"
-- column grows_from: title="its share in inference", unit="%", digits=1
-- column grows_to: title="its share in training", unit="%", digits=1
-- note: Inference is a run without gradients. Forward and backward are phases of the training step. A fused attention
--   kernel is of class attention, including its matmuls.
-- note: Fastest-growing other class: the class with the largest increase in share from inference to the training step.
-- empty: No kernels of the case `kernels`: `kymo suite run cs336 --filter kernels` on a GPU adds this data.
WITH newest AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY size, context, precision, mode ORDER BY run_id DESC) AS position
  FROM traced
  WHERE mode IN ('forward', 'train')
),
summed AS (
  SELECT
    t.run_id,
    t.size,
    t.size_order,
    t.context,
    t.precision,
    t.mode,
    e.class,
    sum(e.total_ns) AS step_ns,
    sum(CASE WHEN e.phase IN ('forward', 'backward') THEN e.total_ns ELSE 0 END) AS both_ns
  FROM newest t
  CROSS JOIN kernel_entry e ON e.run_id = t.run_id AND e.rank = 0
  WHERE t.position = 1
  GROUP BY t.run_id, e.class
),
shared AS (
  SELECT
    *,
    100.0 * step_ns / nullif(sum(step_ns) OVER (PARTITION BY run_id), 0) AS step_share,
    100.0 * both_ns / nullif(sum(both_ns) OVER (PARTITION BY run_id), 0) AS both_share
  FROM summed
),
grown AS (
  SELECT
    t.size,
    t.context,
    t.precision,
    t.class,
    coalesce(f.step_share, 0) AS grows_from,
    t.step_share AS grows_to,
    row_number() OVER (
      PARTITION BY t.size, t.context, t.precision
      ORDER BY t.step_share - coalesce(f.step_share, 0) DESC, t.class
    ) AS position
  FROM shared t
  LEFT JOIN shared f
    ON f.size = t.size
    AND f.context = t.context
    AND f.precision = t.precision
    AND f.mode = 'forward'
    AND f.class = t.class
  WHERE
    t.mode = 'train'
    AND t.class <> 'matmul'
    AND EXISTS (
      SELECT 1
      FROM shared x
      WHERE x.size = t.size AND x.context = t.context AND x.precision = t.precision AND x.mode = 'forward'
    )
)
SELECT
  h.size,
  h.context,
  max(CASE WHEN h.mode = 'forward' THEN CASE h.class WHEN 'matmul' THEN h.step_share ELSE 0.0 END END) AS forward_share,
  max(CASE WHEN h.mode = 'train' THEN CASE h.class WHEN 'matmul' THEN h.both_share ELSE 0.0 END END) AS both_share,
  max(CASE WHEN h.mode = 'train' THEN CASE h.class WHEN 'matmul' THEN h.step_share ELSE 0.0 END END) AS train_share,
  g.class AS grows,
  g.grows_from,
  g.grows_to
FROM shared h
LEFT JOIN grown g ON g.size = h.size AND g.context = h.context AND g.precision = h.precision AND g.position = 1
GROUP BY h.size, h.context, h.precision
ORDER BY h.size_order, h.size, h.context, h.precision
