-- SPDX-License-Identifier: Apache-2.0
-- caption: The five operators with the longest time, in the first and the last of the observed variants.
-- column variant: title="variant"
-- column operator: title="operator", format="code"
-- column module: title="module", format="code"
-- column phase: title="phase", format="code"
-- column calls: title="calls", format="significant", digits=3
-- column time_ms: title="time", unit="ms", format="significant", digits=3
-- column share: title="share", unit="%", digits=1
-- note: Per step, without called operators: time of the kernels on a GPU, of the host on a CPU. The share is that in
--   all operators. "(backward)" marks nodes of the backward pass.
-- empty: No operator records.
WITH observed AS (
  SELECT
    o.*,
    t.case_title AS variant,
    CASE t.device_kind WHEN 'cuda' THEN o.device_ms ELSE o.self_ms END AS time_ms
  FROM selected_run s
  JOIN training_run t ON t.run_id = s.run_id
  JOIN op_by_scope o ON o.run_id = t.run_id AND o.rank = 0 AND o.pass = 'ops'
),
ranked AS (
  SELECT
    o.*,
    100 * o.time_ms / sum(o.time_ms) OVER (PARTITION BY o.run_id) AS share,
    row_number() OVER (PARTITION BY o.run_id ORDER BY o.time_ms DESC, o.name, o.module) AS position
  FROM observed o
)
SELECT
  variant,
  name || CASE backward WHEN 1 THEN ' (backward)' ELSE '' END AS operator,
  module,
  phase,
  calls,
  time_ms,
  share
FROM ranked
WHERE
  position <= 5 AND run_id IN (
    SELECT min(run_id) FROM observed
    UNION
    SELECT max(run_id) FROM observed
  )
ORDER BY run_id, position
