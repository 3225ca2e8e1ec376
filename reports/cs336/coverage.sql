-- SPDX-License-Identifier: Apache-2.0
-- caption: Attribution of the device time to phases, scopes and kernel classes.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column mode: title="mode", format="code"
-- column phase_share: title="with phase", unit="%", digits=2
-- column scope_share: title="with scope", unit="%", digits=2
-- column known_share: title="with class", unit="%", digits=2
-- column spans: title="steps consistent with event timing"
-- note: A trace is reliable if at least 99.9 % of the device time has a phase, 98 % a scope and 99 % a class.
-- note: A step is consistent if the span of its kernels differs from its time between CUDA events by at most 1 % or 60
--   µs, whichever is larger.
-- empty: No kernels of the case `kernels`: `kymo suite run cs336 --filter kernels` on a GPU adds this data.
WITH traced AS (
  SELECT m.*
  FROM selected_run s
  JOIN transformer_run m ON m.run_id = s.run_id
  JOIN kernel_pass k ON k.run_id = s.run_id AND k.rank = 0
),
placed AS (
  SELECT
    t.run_id,
    sum(e.total_ns) AS total_ns,
    sum(CASE WHEN e.phase_id IS NOT NULL THEN e.total_ns ELSE 0 END) AS phase_ns,
    sum(CASE WHEN e.scope_id IS NOT NULL THEN e.total_ns ELSE 0 END) AS scope_ns,
    sum(CASE WHEN e.class <> 'other' THEN e.total_ns ELSE 0 END) AS known_ns
  FROM traced t
  CROSS JOIN kernel_entry e ON e.run_id = t.run_id AND e.rank = 0
  GROUP BY t.run_id
)
SELECT
  t.size,
  t.context,
  t.mode,
  100.0 * p.phase_ns / nullif(p.total_ns, 0) AS phase_share,
  100.0 * p.scope_ns / nullif(p.total_ns, 0) AS scope_share,
  100.0 * p.known_ns / nullif(p.total_ns, 0) AS known_share,
  (
    SELECT sum(x.within_tolerance) || ' of ' || count(*)
    FROM step_span x
    WHERE x.run_id = t.run_id AND x.rank = 0
    HAVING count(*) > 0
  ) AS spans
FROM traced t
JOIN placed p ON p.run_id = t.run_id
ORDER BY t.size_order, t.size, t.context, t.precision, t.mode, t.run_id
