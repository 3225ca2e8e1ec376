-- SPDX-License-Identifier: Apache-2.0
-- caption: Profiling overhead: median step of each profiled pass relative to the time pass.
-- column workload: title="workload", format="code"
-- column title: title="run"
-- column pass: title="pass", format="code"
-- column time_ms: title="time pass", unit="ms", format="significant"
-- column observed_ms: title="profiled", unit="ms", format="significant"
-- column ratio: title="ratio", digits=2
-- column summary: title="summary"
-- note: Host times. Differences up to 2 % are within noise.
-- empty: No run was both timed and profiled: add `--passes time,trace,memory,ops` to the command.
SELECT
  r.workload,
  s.title,
  o.pass,
  o.time_ms,
  o.observed_ms,
  o.ratio,
  o.summary
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN trace_overhead o ON o.run_id = r.run_id AND o.rank = 0 AND o.phase = 'step'
ORDER BY r.run_id, o.pass
