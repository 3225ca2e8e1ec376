-- SPDX-License-Identifier: Apache-2.0
-- caption: One step of rank zero, from the begin of the step:
-- empty: Neither `ddp_naive` nor `ddp_overlap` was traced: `kymo suite run cs336 --filter ddp` fills this section.
-- The newest traced run of each. Communication has a stream of its own on the GPU, and the lane collectives on the host with Gloo.
WITH chosen AS (
  SELECT z.run_id, z.rank, z.pass, z.step, z.origin_ns, z.strategy
  FROM (SELECT t.*, p.strategy, row_number() OVER (PARTITION BY p.workload ORDER BY t.run_id DESC) AS newest
        FROM selected_run s
        JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
        JOIN ddp_run p ON p.run_id = r.run_id AND p.workload IN ('ddp_naive', 'ddp_overlap') AND p.communicate = 1
        CROSS JOIN timeline_step t ON t.run_id = r.run_id AND t.rank = 0 AND t.pass = 'trace') z
  WHERE z.newest = 1
)
SELECT c.strategy, b.side AS "group", b.lane, b.start_ns - c.origin_ns AS start_ns, b.end_ns - c.origin_ns AS end_ns, b.label, b.class, b.detail, b.place
FROM chosen c CROSS JOIN timeline_bar b ON b.run_id = c.run_id AND b.rank = c.rank AND b.pass = c.pass AND b.step = c.step
ORDER BY strategy, place, lane, start_ns, end_ns DESC
