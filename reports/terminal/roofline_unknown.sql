-- SPDX-License-Identifier: Apache-2.0
-- The operators of unknown work.
-- column share: format="percent"
SELECT
  o.name,
  sum(o.share_of_step) AS share
FROM operator o
WHERE o.kind = 'unknown'
GROUP BY o.name
ORDER BY share DESC, o.name
