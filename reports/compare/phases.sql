-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of each phase on both sides.
-- column title: title="case", once=true
-- column phase: title="phase", format="code"
-- column before_ms: title="before", unit="ms", format="significant", digits=4
-- column after_ms: title="after", unit="ms", format="significant", digits=4
-- column difference_ms: title="difference", unit="ms", format="significant", digits=3
-- column change: title="change", align="right"
-- note: Means over the runs of their mean or median phases, whichever is compared for the step; if these are the
--   fastest steps, the shortest time of the phase.
-- empty: No case has runs with phases on both sides.
WITH side AS (
  SELECT
    c.case_id,
    t.phase,
    CASE k.statistic
      WHEN 'fastest' THEN min(CASE c.is_after WHEN 0 THEN t.min_ms END)
      WHEN 'mean' THEN avg(CASE c.is_after WHEN 0 THEN t.mean_ms END)
      ELSE avg(CASE c.is_after WHEN 0 THEN t.median_ms END)
    END AS before_ms,
    CASE k.statistic
      WHEN 'fastest' THEN min(CASE c.is_after WHEN 1 THEN t.min_ms END)
      WHEN 'mean' THEN avg(CASE c.is_after WHEN 1 THEN t.mean_ms END)
      ELSE avg(CASE c.is_after WHEN 1 THEN t.median_ms END)
    END AS after_ms
  FROM compared_run c
  JOIN compared_case k ON k.case_id = c.case_id
  JOIN phase_time t ON t.run_id = c.run_id AND t.phase <> 'step'
  GROUP BY c.case_id, t.phase
)
SELECT
  c.title,
  s.phase,
  s.before_ms,
  s.after_ms,
  s.after_ms - s.before_ms AS difference_ms,
  ratio_text(s.after_ms / nullif(s.before_ms, 0)) AS change
FROM compared_case c
JOIN side s ON s.case_id = c.case_id
ORDER BY c.case_id, s.phase = 'other', coalesce(s.after_ms, s.before_ms) DESC, s.phase
