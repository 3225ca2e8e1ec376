-- SPDX-License-Identifier: Apache-2.0
-- Where a run failed: the object :failure or null.
SELECT
  :failure ->> 'status' AS status,
  :failure ->> 'detail' AS detail,
  (
    SELECT group_concat(replace(f.key, '_', ' ') || ' ' || f.value, ', ')
    FROM json_each(:failure) f
    WHERE f.key NOT IN ('status', 'detail') AND f.value <> ''
  ) AS position
WHERE json_type(:failure) = 'object'
