-- SPDX-License-Identifier: Apache-2.0
-- caption: One step of rank 0 on both sides, on the same time axis, of the case that changed most among those with
--   records on both sides.
-- empty: No case has a timeline on both sides: add `--passes time,trace` (on a CPU `time,ops`) to both runs.
WITH traced AS (
  SELECT
    c.case_id,
    c.is_after,
    c.side,
    t.run_id,
    t.rank,
    t.pass,
    t.step,
    t.step_start_ns,
    t.step_ms,
    r.device_kind,
    row_number() OVER (PARTITION BY c.case_id, c.is_after ORDER BY t.run_id DESC) AS newest
  FROM compared_run c
  JOIN run r ON r.run_id = c.run_id
  CROSS JOIN timeline_step t ON t.run_id = c.run_id AND t.rank = 0 AND t.preferred = 1
),
chosen AS (
  SELECT *
  FROM traced
  WHERE
    newest = 1
    AND case_id = (
      SELECT t.case_id
      FROM traced t
      JOIN compared_case c ON c.case_id = t.case_id
      GROUP BY t.case_id
      HAVING count(DISTINCT t.is_after) = 2
      ORDER BY abs(coalesce(max(c.ratio), 1) - 1) DESC, t.case_id
      LIMIT 1
    )
)
SELECT
  a.title
  || ', '
  || c.side
  || CASE WHEN c.step_ms > 0 THEN printf(': a step of %.4g ms', c.step_ms) ELSE '' END AS panel,
  CASE b.class WHEN 'phase' THEN 0 WHEN 'scope' THEN 1 ELSE 2 END AS lane_order,
  CASE b.class WHEN 'phase' THEN 'phases' ELSE b.lane END AS lane,
  b.start_ns - c.step_start_ns AS start_ns,
  b.end_ns - c.step_start_ns AS end_ns,
  b.label,
  CASE b.class WHEN 'phase' THEN b.label ELSE b.class END AS class,
  b.detail,
  b.scope,
  b.phase
FROM chosen c
JOIN compared_case a ON a.case_id = c.case_id
CROSS JOIN timeline_bar b ON b.run_id = c.run_id AND b.rank = c.rank AND b.pass = c.pass AND b.step = c.step
WHERE CASE c.device_kind WHEN 'cuda' THEN b.side = 'GPU' ELSE b.side = 'host' END
ORDER BY c.is_after, lane_order, b.lane_order, start_ns, end_ns DESC
