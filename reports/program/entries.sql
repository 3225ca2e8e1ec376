-- SPDX-License-Identifier: Apache-2.0
-- caption: Kernels or operators with the longest time per step.
-- column name: title="name", format="code"
-- column class: title="class"
-- column module: title="module", format="code"
-- column phase: title="phase", format="code"
-- column calls: title="calls", format="significant", digits=3
-- column ms: title="time", unit="ms", format="significant", digits=3
-- column share: title="share", unit="%", digits=1
-- note: Kernels on a GPU; self time of operators on a CPU. Per step, in one phase and module.
-- empty: No kernels (`--passes trace`) or operators (`--passes ops`) were recorded.
WITH entries AS (
  SELECT
    p.name,
    p.class,
    p.module,
    p.phase,
    sum(p.calls) AS calls,
    sum(p.ms) AS ms
  FROM chosen c
  CROSS JOIN profile_entry p ON p.run_id = c.run_id AND p.rank = 0
  GROUP BY p.name, p.class, p.module, p.phase
)
SELECT
  CASE WHEN length(e.name) > 60 THEN substr(e.name, 1, 59) || '…' ELSE e.name END AS name,
  e.class,
  e.module,
  e.phase,
  e.calls,
  e.ms,
  100 * e.ms / nullif((SELECT sum(ms) FROM entries), 0) AS share
FROM entries e
ORDER BY e.ms DESC, e.name, e.module, e.phase
LIMIT 15
