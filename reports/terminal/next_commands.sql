-- SPDX-License-Identifier: Apache-2.0
-- Commands that show more of what a run recorded. :database is the option that names the file.
SELECT c.column2 || CASE c.column1 WHEN 'program' THEN r.invocation_id ELSE r.run_id END || :database AS command
FROM run r
JOIN (
  VALUES
  ('program', 'kymo report program --invocation '),
  ('memory', 'kymo export memory-viz --run '),
  ('events', 'kymo export perfetto --run ')
) c
JOIN (
  SELECT
    coalesce(max(k.pass = 'memory'), 0) AS memory,
    coalesce(max(k.pass IN ('trace', 'ops')), 0) AS events
  FROM rank k
  WHERE k.run_id = :run AND k.status = 'ok'
) p
WHERE
  r.run_id = :run
  AND CASE c.column1
    WHEN 'program' THEN r.timing = 'free' AND (p.memory OR p.events)
    WHEN 'memory' THEN p.memory
    ELSE p.events
  END
