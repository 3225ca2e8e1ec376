-- SPDX-License-Identifier: Apache-2.0
-- Phases and scopes on the time axis of memory_area.sql.
SELECT
  n.setting,
  g.step,
  g.side AS "group",
  g.lane,
  g.start_ns AS start_ns,
  g.end_ns AS end_ns,
  g.label,
  g.class,
  g.scope,
  g.phase
FROM chosen n
CROSS JOIN timeline_bar g ON g.run_id = n.run_id AND g.rank = 0 AND g.pass = 'memory'
WHERE g.start_ns BETWEEN n.start_ns AND n.end_ns
ORDER BY setting, lane, start_ns, end_ns DESC
