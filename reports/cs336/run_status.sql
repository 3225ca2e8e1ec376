-- SPDX-License-Identifier: Apache-2.0
-- caption: Status of every run of the suite.
-- column suite_case: title="case", format="code"
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column mode: title="mode", format="code"
-- column precision: title="precision"
-- column warmup: title="warm-up"
-- column status_detail: title="status"
-- column verified: title="verified"
-- column runs: title="runs"
-- empty: No runs of the suite `cs336`.
SELECT
  r.suite_case,
  m.size,
  m.context,
  m.mode,
  m.precision,
  r.warmup,
  d.status_detail,
  d.verified,
  count(*) AS runs
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
JOIN run_status d ON d.run_id = r.run_id
LEFT JOIN transformer_run m ON m.run_id = r.run_id
GROUP BY r.suite_case, m.size, m.context, m.mode, m.precision, r.warmup, d.status_detail, d.verified
ORDER BY min(r.run_id)
