-- SPDX-License-Identifier: Apache-2.0
-- The step that the timeline shows: the last one with events of a traced run, or otherwise one with operator records:
-- of the case kernels if it was traced, a training step of the largest model at the shortest context. Times are from
-- the start of the last step on rank 0 on.
WITH newest AS (
  SELECT
    t.run_id,
    t.pass,
    t.step,
    t.step_start_ns AS zero_ns,
    r.device_kind,
    r.suite_case || ', ' || coalesce(m.size || ', context ' || m.context || ', ' || m.mode, x.title) AS run
  FROM selected_run s
  CROSS JOIN timeline_step t ON t.run_id = s.run_id AND t.rank = 0
  JOIN run r ON r.run_id = s.run_id
  JOIN run_series x ON x.run_id = s.run_id
  LEFT JOIN transformer_run m ON m.run_id = s.run_id
  ORDER BY
    r.suite_case = 'kernels' DESC, m.mode = 'train' DESC, m.size_order DESC, m.context, t.run_id DESC, t.preferred DESC
  LIMIT 1
)
SELECT
  n.*,
  t.rank,
  1 AS run_order
FROM newest n
CROSS JOIN timeline_step t ON t.run_id = n.run_id AND t.pass = n.pass AND t.rank < 8
