-- SPDX-License-Identifier: Apache-2.0
-- caption: Status of every run of the suite.
-- column suite_case: title="case", format="code"
-- column title: title="run"
-- column warmup: title="warm-up steps"
-- column status: title="status"
-- column verified: title="verified"
-- note: Runs that did not complete are listed individually, except skipped runs; the next table shows the reasons.
-- empty: No runs of the suite `cs336`.
SELECT
  r.suite_case,
  CASE count(*) WHEN 1 THEN coalesce(max(s.title_in_case), '1 run') ELSE count(*) || ' runs' END AS title,
  r.warmup,
  CASE r.status WHEN 'ok' THEN 'ok' ELSE d.status_label END AS status,
  d.verified
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN run_status d ON d.run_id = r.run_id
GROUP BY
  r.suite_case,
  r.warmup,
  r.status,
  d.verified,
  CASE WHEN r.status NOT IN ('ok', 'skipped') THEN r.run_id END
ORDER BY min(r.run_id)
