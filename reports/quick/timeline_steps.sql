-- SPDX-License-Identifier: Apache-2.0
-- The steps that a timeline shows: the last ones with events of up to four runs with a trace, or else with operator
-- records, those with the fewest ranks first. Times are relative to the start of the last step on rank 0.
WITH recent AS (
  SELECT
    s.run_id,
    r.device_kind,
    r.workload || ', ' || s.title AS run,
    row_number() OVER (ORDER BY r.ranks, s.run_id DESC) AS run_order
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  WHERE EXISTS (SELECT 1 FROM timeline_step t WHERE t.run_id = s.run_id AND t.rank = 0)
  ORDER BY r.ranks, s.run_id DESC
  LIMIT 4
)
SELECT * FROM (
  SELECT
    n.run,
    n.run_order,
    n.device_kind,
    t.run_id,
    t.rank,
    t.pass,
    t.step,
    min(t.step_start_ns) OVER (PARTITION BY t.run_id) AS zero_ns,
    row_number() OVER (PARTITION BY t.run_id, t.rank ORDER BY t.preferred DESC) AS position
  FROM recent n
  CROSS JOIN timeline_step t ON t.run_id = n.run_id AND t.rank < 8
)
WHERE position = 1
