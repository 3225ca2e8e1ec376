-- SPDX-License-Identifier: Apache-2.0
-- caption: Cost of observing: the median step of each observed pass against that of the same run's time pass.
-- column suite_case: title="case", format="code"
-- column pass: title="pass", format="code"
-- column runs: title="runs"
-- column low: title="lowest ratio", format="fixed", digits=3
-- column high: title="highest ratio", format="fixed", digits=3
-- column verdict: title="at worst"
-- note: Host times. Differences up to 2 % are taken for scatter.
-- empty: No run here was both timed and observed.
WITH placed AS (
  SELECT
    r.suite_case,
    o.pass,
    o.ratio,
    o.verdict,
    row_number() OVER (PARTITION BY r.suite_case, o.pass ORDER BY o.ratio DESC, r.run_id) AS place
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
  JOIN trace_overhead o ON o.run_id = r.run_id AND o.rank = 0 AND o.phase = 'step'
)
SELECT
  suite_case,
  pass,
  count(*) AS runs,
  min(ratio) AS low,
  max(ratio) AS high,
  max(CASE place WHEN 1 THEN verdict END) AS verdict
FROM placed
GROUP BY suite_case, pass
ORDER BY suite_case, pass
