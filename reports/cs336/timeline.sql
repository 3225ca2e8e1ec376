-- SPDX-License-Identifier: Apache-2.0
-- caption: One step: phases and scopes on the host; kernels and copies on the GPU.
-- empty: No trace: `kymo suite run cs336 --filter kernels` adds this data.
-- The last step with events of the newest run with a trace, or otherwise with operator records. Times are relative to
-- the start of the step.
WITH chosen AS (
  SELECT t.*
  FROM selected_run s
  CROSS JOIN timeline_step t ON t.run_id = s.run_id AND t.rank = 0
  ORDER BY t.run_id DESC, t.preferred DESC
  LIMIT 1
)
SELECT
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
