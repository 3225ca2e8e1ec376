-- SPDX-License-Identifier: Apache-2.0
-- caption: One step, phases and scopes on the host, kernels and copies on the GPU:
-- empty: No trace: `kymo suite run cs336 --filter kernels` adds this data.
-- The last step with events of a traced run, or otherwise of one with operator records: of the case kernels if it was
-- traced, a training step of the largest model at the shortest context. Times are relative to the start of the step.
WITH chosen AS (
  SELECT
    t.*,
    r.suite_case || ', ' || coalesce(m.size || ', context ' || m.context || ', ' || m.mode, x.title) AS setting
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
  c.setting,
  b.side AS "group",
  b.lane,
  b.start_ns - c.step_start_ns AS start_ns,
  b.end_ns - c.step_start_ns AS end_ns,
  b.label,
  b.class,
  b.detail,
  b.lane_order
FROM chosen c
CROSS JOIN timeline_bar b ON b.run_id = c.run_id AND b.rank = c.rank AND b.pass = c.pass AND b.step = c.step
ORDER BY lane_order, lane, start_ns, end_ns DESC
