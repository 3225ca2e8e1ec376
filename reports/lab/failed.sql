-- SPDX-License-Identifier: Apache-2.0
-- caption: Runs that were skipped or failed, and warnings.
-- column title: title="run"
-- column kind: title="kind"
-- column detail: title="reason"
-- column runs: title="runs"
-- empty: Every run succeeded, without a warning.
SELECT
  r.suite_case AS title,
  w.kind,
  min(w.detail) AS detail,
  count(*) AS runs
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN run_warning w ON w.run_id = r.run_id
WHERE r.family = 'text_training' AND w.kind <> 'not verified'
GROUP BY r.suite_case, w.kind
ORDER BY min(r.run_id), w.kind
