-- SPDX-License-Identifier: Apache-2.0
-- caption: Self-checks that failed.
-- column kind: title="check"
-- column suite_case: title="case", format="code"
-- column runs: title="runs", format="plain"
-- column detail: title="numbers of the first of them"
-- note: Checked: the same case in several cases of the suite agrees; phases add up to the step and memory categories to
--   the peak; memory fits into the device; no bandwidth exceeds that of the memory or of an all-reduce; traced steps
--   take as long as others.
-- empty: No self-check failed: the same case agrees in all cases of the suite, phases add up to steps, memory adds up
--   and fits into the device, and no bandwidth exceeds that of the memory or of an all-reduce.
WITH failed AS (
  SELECT
    r.suite_case,
    r.run_id,
    c.kind,
    c.detail,
    row_number() OVER (PARTITION BY c.kind, r.suite_case ORDER BY r.run_id, c.detail) AS position,
    count(*) OVER (PARTITION BY c.kind, r.suite_case) AS runs
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  JOIN consistency_check c ON c.run_id = s.run_id
  -- Runs without warm-up, and those that vary it, differ on purpose.
  WHERE NOT (c.kind = 'repeated case' AND c.detail LIKE '%timing-warmup%')
)
SELECT
  kind,
  suite_case,
  runs,
  detail
FROM failed
WHERE position = 1
ORDER BY kind, run_id
