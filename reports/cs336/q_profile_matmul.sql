-- SPDX-License-Identifier: Apache-2.0
-- caption: Share of matmuls: inference, forward and backward, and the whole training step with AdamW.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column forward_share: title="inference", unit="%", digits=1
-- column both_share: title="forward and backward", unit="%", digits=1
-- column train_share: title="training step", unit="%", digits=1
-- column optimizer_share: title="optimizer in the step", unit="%", digits=1
-- column verdict: title="than in inference"
-- note: Than in inference: about the same up to two percent of the share. Shares of the time of all kernels,
--   on a CPU of the self time of all operators.
-- empty: Not in this database: `kymo suite run cs336 --filter '^kernels'` adds this data.
WITH shared AS (
  SELECT
    run_id,
    100 * sum(CASE class WHEN 'matmul' THEN ms ELSE 0 END) / nullif(sum(ms), 0) AS share,
    100
    * sum(CASE WHEN class = 'matmul' AND phase IN ('forward', 'backward') THEN ms ELSE 0 END)
    / nullif(sum(CASE WHEN phase IN ('forward', 'backward') THEN ms ELSE 0 END), 0) AS both_share,
    100 * sum(CASE phase WHEN 'optimizer' THEN ms ELSE 0 END) / nullif(sum(ms), 0) AS optimizer_share
  FROM profiled
  GROUP BY run_id
)
SELECT
  t.size,
  t.context,
  i.share AS forward_share,
  h.both_share,
  CASE WHEN t.status_label <> '' THEN t.status_label ELSE h.share END AS train_share,
  h.optimizer_share,
  CASE
    WHEN h.share < 0.98 * i.share THEN 'less'
    WHEN h.share > 1.02 * i.share THEN 'more'
    WHEN i.share > 0 THEN 'about the same'
  END AS verdict
FROM listed t
LEFT JOIN shared h ON h.run_id = t.run_id
LEFT JOIN shared i
  ON i.run_id = (
    SELECT max(f.run_id)
    FROM traced f
    WHERE f.mode = 'forward' AND f.size = t.size AND f.context = t.context
  )
WHERE h.run_id IS NOT NULL OR t.status_label <> ''
ORDER BY t.size_order, t.size, t.context, t.run_id
