-- SPDX-License-Identifier: Apache-2.0
-- caption: Attribution of the device time to phases, scopes and kernel classes.
-- column workload: title="workload", format="code"
-- column title: title="run"
-- column phase_share: title="with phase", unit="%", digits=2
-- column scope_share: title="with scope", unit="%", digits=2
-- column known_share: title="with class", unit="%", digits=2
-- note: A trace is reliable if at least 99.9 % of the device time has a phase and 99 % a class. Scopes are known only
--   for workloads that define them.
-- empty: No kernel records. On a GPU, add `--passes time,trace` to the command.
SELECT
  r.workload,
  s.title,
  100.0 * sum(CASE WHEN e.phase_id IS NOT NULL THEN e.total_ns ELSE 0 END) / nullif(sum(e.total_ns), 0) AS phase_share,
  100.0 * sum(CASE WHEN e.scope_id IS NOT NULL THEN e.total_ns ELSE 0 END) / nullif(sum(e.total_ns), 0) AS scope_share,
  100.0 * sum(CASE WHEN e.class <> 'other' THEN e.total_ns ELSE 0 END) / nullif(sum(e.total_ns), 0) AS known_share
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
CROSS JOIN kernel_entry e ON e.run_id = r.run_id AND e.rank = 0
GROUP BY r.run_id
ORDER BY r.run_id
