-- SPDX-License-Identifier: Apache-2.0
-- caption: One step of rank 0 for each strategy, on the same time axis. Communication below backward is hidden; where
--   the phase lane shows communication, it is exposed.
-- empty: No data-parallel training traced: `kymo suite run cs336 --filter ddp` adds this data.
-- The newest traced run of each workload within one comparison group. On a GPU: stream activity by purpose. On a CPU:
-- host phases and collectives in flight.
WITH traced AS (
  SELECT
    t.run_id,
    t.rank,
    t.pass,
    t.step,
    t.step_start_ns,
    r.workload,
    p.strategy_order,
    p.is_baseline,
    p.comparison_group,
    r.device_kind = 'cuda' AS on_device,
    p.strategy || CASE WHEN t.step_ms > 0 THEN printf(': a step of %.1f ms', t.step_ms) ELSE '' END AS title,
    row_number() OVER (PARTITION BY r.workload, p.comparison_group ORDER BY t.run_id DESC) AS newest
  FROM shown s
  JOIN run r ON r.run_id = s.run_id
  JOIN ddp_run p
    ON p.run_id = r.run_id AND p.communicate = 1 AND (p.family = 'data_parallel' OR r.suite_case = 'sharding-weights')
  CROSS JOIN timeline_step t ON t.run_id = r.run_id AND t.rank = 0 AND t.pass = 'trace'
),
chosen AS (
  SELECT *
  FROM traced
  WHERE
    newest = 1
    AND comparison_group = (
      SELECT comparison_group
      FROM traced
      GROUP BY comparison_group
      ORDER BY
        count(DISTINCT workload) DESC,
        max(CASE is_baseline WHEN 1 THEN run_id END) DESC,
        max(run_id) DESC
      LIMIT 1
    )
)
SELECT
  c.title,
  c.strategy_order,
  CASE b.class
    WHEN 'phase' THEN 0
    WHEN 'communication' THEN 2
    WHEN 'copy' THEN 3
    WHEN 'memset' THEN 3
    ELSE 1
  END AS lane_order,
  CASE b.class
    WHEN 'phase' THEN 'phases'
    WHEN 'communication' THEN 'communication'
    WHEN 'copy' THEN 'copies'
    WHEN 'memset' THEN 'copies'
    ELSE 'computing'
  END AS lane,
  b.start_ns - c.step_start_ns AS start_ns,
  b.end_ns - c.step_start_ns AS end_ns,
  b.label,
  -- the phase `communication` has the color of communication
  CASE b.class WHEN 'phase' THEN b.label ELSE b.class END AS class,
  trim(CASE b.side WHEN 'GPU' THEN b.lane || ': ' ELSE '' END || b.detail, ': ') AS detail,
  b.scope,
  b.phase
FROM chosen c
CROSS JOIN timeline_bar b ON b.run_id = c.run_id AND b.rank = c.rank AND b.pass = c.pass AND b.step = c.step
WHERE b.class = 'communication' OR CASE c.on_device WHEN 1 THEN b.side = 'GPU' ELSE b.class = 'phase' END
ORDER BY strategy_order, lane_order, start_ns, end_ns DESC
