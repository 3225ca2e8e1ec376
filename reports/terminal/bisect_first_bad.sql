-- SPDX-License-Identifier: Apache-2.0
-- The result of `kymo bisect` in one line per commit.
SELECT
  CASE count(*) OVER () WHEN 1 THEN 'first slow commit: ' ELSE 'no verdict between these commits: ' END
  || substr(f.value ->> 'hash', 1, 10) || ' ' || (f.value ->> 'subject') AS line
FROM json_each(:result, '$.first_bad') f
ORDER BY f.key
