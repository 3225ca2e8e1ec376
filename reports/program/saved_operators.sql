-- SPDX-License-Identifier: Apache-2.0
-- caption: Activations that autograd keeps for the backward pass, by the operator and module that keep them.
-- column operator: title="backward node", format="code"
-- column module: title="module", format="code"
-- column modules: title="modules", format="plain"
-- column types: title="tensors", format="code"
-- column bytes: title="size", format="bytes"
-- column share: title="of all activations kept", unit="%", digits=1
-- note: Memory that tensors share is counted once, at the first node that keeps it. Repeated modules share a row.
-- empty: No saved tensors: `--passes memory` records them in steps with a backward pass.
SELECT
  o.operator,
  coalesce(o.module, '(no module)') AS module,
  count(*) AS modules,
  min(o.types) AS types,
  sum(o.bytes) AS bytes,
  100.0 * sum(o.share) AS share
FROM saved_by_operator o
WHERE o.run_id = (SELECT run_id FROM chosen) AND o.rank = 0 AND o.nested = 0 AND o.memory = 'activation'
GROUP BY o.operator, o.module
HAVING sum(o.bytes) > 0
ORDER BY sum(o.bytes) DESC, o.operator, o.module
LIMIT 5
