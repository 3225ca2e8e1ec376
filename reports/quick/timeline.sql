-- SPDX-License-Identifier: Apache-2.0
-- caption: The last steps of the newest traced runs: phases, scopes and operators on the host; kernels and copies on
--   the GPU.
-- empty: No trace: add `--passes time,trace` to the command.
-- The last two of the chosen steps.
SELECT
  c.run,
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
  c.run_order,
  b.lane_order
FROM chosen c
CROSS JOIN timeline_bar b ON b.run_id = c.run_id AND b.rank = c.rank AND b.pass = c.pass
WHERE b.step BETWEEN c.step - 1 AND c.step AND (b.side = 'host' OR c.device_kind = 'cuda')
ORDER BY run_order, rank, lane_order, lane, start_ns, end_ns DESC
