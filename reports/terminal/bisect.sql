-- SPDX-License-Identifier: Apache-2.0
-- The commits that `kymo bisect` compared, in the order in which it did.
-- column change: align="right"
-- column interval: align="right", omit=2
-- column subject: omit=3
SELECT
  substr(s.value ->> 'hash', 1, 10) AS "commit",
  s.value ->> 'result' AS result,
  coalesce(s.value ->> 'verdict', 'none') AS verdict,
  ratio_text(s.value ->> 'ratio') AS change,
  ratio_interval(s.value ->> 'ratio', s.value ->> 'ratio_low', s.value ->> 'ratio_high') AS interval,
  s.value ->> 'subject' AS subject
FROM json_each(:result, '$.steps') s
ORDER BY s.key
