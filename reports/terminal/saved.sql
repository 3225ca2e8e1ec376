-- SPDX-License-Identifier: Apache-2.0
-- The operators with the most activations that autograd keeps for the backward pass.
-- column operator: title="saved for backward"
-- column module: optional=true
-- column modules: omit=1
-- column bytes: title="size", format="bytes"
-- column share: format="percent"
SELECT
  o.operator,
  o.module,
  count(*) AS modules,
  sum(o.bytes) AS bytes,
  sum(o.share) AS share
FROM saved_by_operator o
WHERE
  o.nested = 0
  AND o.memory = 'activation'
  AND o.run_id = :run
  AND o.rank = (SELECT min(m.rank) FROM saved_memory m WHERE m.run_id = :run)
GROUP BY o.operator, o.module
HAVING sum(o.bytes) > 0
ORDER BY sum(o.bytes) DESC, o.operator, o.module
LIMIT 5
