-- SPDX-License-Identifier: Apache-2.0
-- caption: Device time of a training step by module.
-- column setting: title="model", once=true
-- column module: title="module", format="code"
-- column forward_ms: title="forward", unit="ms", format="significant", digits=3
-- column backward_ms: title="backward", unit="ms", format="significant", digits=3
-- column other_ms: title="other", unit="ms", format="significant", digits=3
-- column share: title="share of step", unit="%", digits=1
-- column matmul_share: title="matmul share", unit="%", digits=1
-- note: Times exclude nested modules and are summed over all layers. Backward kernels are attributed to the module of
--   their forward operator.
-- empty: No kernels of the case `kernels`: `kymo suite run cs336 --filter kernels` on a GPU adds this data.
-- number of rows shown
WITH setting (rows_shown) AS (VALUES (15)),
chosen AS (
  SELECT
    t.run_id,
    t.size || ', context ' || t.context AS setting
  FROM traced t
  JOIN kernel_pass k ON k.run_id = t.run_id AND k.rank = 0
  WHERE t.status = 'ok' AND t.mode = 'train'
  ORDER BY t.size_order DESC, t.context DESC, t.run_id DESC
  LIMIT 1
),
summed AS (
  SELECT
    c.setting,
    e.module,
    sum(CASE e.phase WHEN 'forward' THEN e.total_ns END) / 1e6 / max(e.steps) AS forward_ms,
    sum(CASE e.phase WHEN 'backward' THEN e.total_ns END) / 1e6 / max(e.steps) AS backward_ms,
    sum(CASE WHEN e.phase NOT IN ('forward', 'backward') THEN e.total_ns END) / 1e6 / max(e.steps) AS other_ms,
    sum(e.total_ns) AS total_ns,
    sum(CASE e.class WHEN 'matmul' THEN e.total_ns ELSE 0 END) AS matmul_ns
  FROM chosen c
  CROSS JOIN kernel_entry e ON e.run_id = c.run_id AND e.rank = 0
  GROUP BY e.module
)
SELECT
  setting,
  coalesce(module, '(no scope)') AS module,
  forward_ms,
  backward_ms,
  other_ms,
  100.0 * total_ns / nullif((SELECT sum(total_ns) FROM summed), 0) AS share,
  100.0 * matmul_ns / nullif(total_ns, 0) AS matmul_share
FROM summed
ORDER BY total_ns DESC, module
LIMIT (SELECT rows_shown FROM setting)
