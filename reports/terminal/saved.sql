-- SPDX-License-Identifier: Apache-2.0
-- The operators with the most activations that autograd keeps for the backward pass, as measured and as predicted.
-- column operator: title="saved for backward"
-- column module: optional=true
-- column modules: omit=1
-- column bytes: title="size", format="bytes", optional=true
-- column predicted: format="bytes", optional=true
-- column share: format="percent"
SELECT
  s.operator,
  s.module,
  max(s.modules) AS modules,
  max(CASE s.pass WHEN 'memory' THEN s.bytes END) AS bytes,
  max(CASE s.pass WHEN 'predict' THEN s.bytes END) AS predicted,
  coalesce(max(CASE s.pass WHEN 'memory' THEN s.share END), max(s.share)) AS share
FROM (
  SELECT
    o.pass,
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
  GROUP BY o.pass, o.operator, o.module
  HAVING sum(o.bytes) > 0
) s
GROUP BY s.operator, s.module
ORDER BY max(s.bytes) DESC, s.operator, s.module
LIMIT 5
