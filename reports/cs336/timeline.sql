-- SPDX-License-Identifier: Apache-2.0
-- caption: The last steps, phases and scopes on the host, kernels and copies on the GPU:
-- empty: No trace: `kymo suite run cs336 --filter kernels` adds this data.
-- The last two steps with events of a traced run, or otherwise of one with operator records: of the case kernels if it
-- was traced, a training step of the largest model at the shortest context. Times are relative to the start of the last
-- step on rank 0.
WITH newest AS (
  SELECT
    t.run_id,
    t.pass,
    t.step,
    t.step_start_ns AS zero_ns,
    r.device_kind,
    r.suite_case || ', ' || coalesce(m.size || ', context ' || m.context || ', ' || m.mode, x.title) AS setting
  FROM selected_run s
  CROSS JOIN timeline_step t ON t.run_id = s.run_id AND t.rank = 0
  JOIN run r ON r.run_id = s.run_id
  JOIN run_series x ON x.run_id = s.run_id
  LEFT JOIN transformer_run m ON m.run_id = s.run_id
  ORDER BY
    r.suite_case = 'kernels' DESC, m.mode = 'train' DESC, m.size_order DESC, m.context, t.run_id DESC, t.preferred DESC
  LIMIT 1
),
chosen AS MATERIALIZED (
  SELECT
    n.*,
    t.rank
  FROM newest n
  CROSS JOIN timeline_step t ON t.run_id = n.run_id AND t.pass = n.pass AND t.rank < 8
)
SELECT
  c.setting,
  c.rank AS rank,
  c.run_id,
  c.pass,
  b.step,
  b.side AS "group",
  b.lane,
  b.start_ns - c.zero_ns AS start_ns,
  b.end_ns - c.zero_ns AS end_ns,
  b.label,
  b.class,
  b.detail,
  b.scope,
  b.phase,
  b.event,
  b.launched_by,
  b.called_by,
  b.lane_order
FROM chosen c
CROSS JOIN timeline_bar b ON b.run_id = c.run_id AND b.rank = c.rank AND b.pass = c.pass
WHERE b.step BETWEEN c.step - 1 AND c.step AND (b.side = 'host' OR c.device_kind = 'cuda')
ORDER BY rank, lane_order, lane, start_ns, end_ns DESC
