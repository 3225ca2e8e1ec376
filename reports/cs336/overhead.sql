-- SPDX-License-Identifier: Apache-2.0
-- caption: Profiling overhead: median step of each profiled pass relative to the time pass of the same run.
-- column suite_case: title="case", format="code"
-- column pass: title="pass", format="code"
-- column runs: title="runs"
-- column low: title="lowest ratio", format="fixed", digits=3
-- column high: title="highest ratio", format="fixed", digits=3
-- column summary: title="worst case"
-- note: Host times. Differences up to 2 % are within noise.
-- empty: No run was both timed and profiled.
WITH placed AS (
  SELECT
    r.suite_case,
    o.pass,
    o.ratio,
    o.summary,
    row_number() OVER (PARTITION BY r.suite_case, o.pass ORDER BY o.ratio DESC, r.run_id) AS position
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  JOIN trace_overhead o ON o.run_id = r.run_id AND o.rank = 0 AND o.phase = 'step'
)
SELECT
  suite_case,
  pass,
  count(*) AS runs,
  min(ratio) AS low,
  max(ratio) AS high,
  max(CASE position WHEN 1 THEN summary END) AS summary
FROM placed
GROUP BY suite_case, pass
ORDER BY suite_case, pass
