-- SPDX-License-Identifier: Apache-2.0
-- Kernels, or operators on a CPU, of the newest runs of both sides, by the difference of their time per step.
WITH entry AS (
  SELECT
    c.case_id,
    c.is_after,
    c.run_id,
    CASE p.source WHEN 'operator' THEN 'operators' ELSE p.class END AS class,
    p.name,
    p.calls,
    p.ms
  FROM compared_run c
  CROSS JOIN profile_entry p ON p.run_id = c.run_id AND p.rank = 0
),
newest AS (
  SELECT
    case_id,
    max(CASE is_after WHEN 0 THEN run_id END) AS before_run_id,
    max(CASE is_after WHEN 1 THEN run_id END) AS after_run_id
  FROM entry
  GROUP BY case_id
),
changed AS (
  SELECT
    e.case_id,
    e.class,
    e.name,
    sum(CASE e.is_after WHEN 0 THEN e.calls END) AS before_calls,
    sum(CASE e.is_after WHEN 1 THEN e.calls END) AS after_calls,
    sum(CASE e.is_after WHEN 0 THEN e.ms END) AS before_ms,
    sum(CASE e.is_after WHEN 1 THEN e.ms END) AS after_ms
  FROM newest n
  JOIN
    entry e
    ON e.case_id = n.case_id AND e.run_id = CASE e.is_after WHEN 1 THEN n.after_run_id ELSE n.before_run_id END
  WHERE n.before_run_id IS NOT NULL AND n.after_run_id IS NOT NULL
  GROUP BY e.case_id, e.class, e.name
)
SELECT
  *,
  coalesce(after_ms, 0) - coalesce(before_ms, 0) AS difference_ms,
  row_number() OVER (
    PARTITION BY case_id ORDER BY abs(coalesce(after_ms, 0) - coalesce(before_ms, 0)) DESC, name, class
  ) AS position
FROM changed
