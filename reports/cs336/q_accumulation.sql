-- SPDX-License-Identifier: Apache-2.0
-- caption: A thousand terms of 0.01, accumulated in four ways.
-- column way: title="sum of terms"
-- column sum: title="sum", digits=4
-- column error: title="error", digits=4
-- column relative: title="relative error", unit="%", digits=3
-- column term: title="value of a term", digits=8
-- column verified: title="equals IEEE arithmetic"
-- empty: Not in this database: `kymo suite run cs336 --filter '^accumulation'` adds this data.
WITH summed AS (
  SELECT
    r.run_id,
    p.choice,
    CASE p.value
      WHEN 'fp32' THEN 'fp32 terms in fp32'
      WHEN 'fp16' THEN 'fp16 terms in fp16'
      WHEN 'fp16-to-fp32' THEN 'fp16 terms in fp32'
      ELSE 'fp16 terms, cast first, in fp32'
    END AS way,
    max(CASE m.name WHEN 'sum' THEN m.value END) AS sum,
    max(CASE m.name WHEN 'exact_sum' THEN m.value END) AS exact,
    max(CASE m.name WHEN 'term' THEN m.value END) AS term
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.family = 'accumulation' AND r.status = 'ok'
  JOIN run_parameter p ON p.run_id = r.run_id AND p.name = 'addition'
  JOIN reported_metric m ON m.run_id = r.run_id AND m.pass = 'time'
  GROUP BY r.run_id
)
SELECT
  a.way,
  a.sum,
  a.sum - a.exact AS error,
  100 * abs(a.sum - a.exact) / a.exact AS relative,
  a.term,
  d.verified
FROM summed a
JOIN run_status d ON d.run_id = a.run_id
ORDER BY a.choice, a.run_id
