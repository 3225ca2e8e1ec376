-- SPDX-License-Identifier: Apache-2.0
-- caption: The last steps of the newest traced runs: phases, scopes and operators on the host; kernels and copies on
--   the GPU.
-- empty: No trace: add `--passes time,trace` to the command.
-- The last two steps with events of up to four runs with a trace, or otherwise with operator records, those with the
-- fewest ranks first. Times are relative to the start of the last step on rank 0.
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
),
chosen AS MATERIALIZED (
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
WHERE c.position = 1 AND b.step BETWEEN c.step - 1 AND c.step AND (b.side = 'host' OR c.device_kind = 'cuda')
ORDER BY run_order, rank, lane_order, lane, start_ns, end_ns DESC
