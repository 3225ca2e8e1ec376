-- SPDX-License-Identifier: Apache-2.0
-- caption: How much of the device time could be placed and named.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column mode: title="mode", format="code"
-- column phase_share: title="has a phase", unit="%", digits=2
-- column scope_share: title="has a scope", unit="%", digits=2
-- column known_share: title="has a class", unit="%", digits=2
-- column spans: title="steps that agree with the timer"
-- note: A trace can be relied on where at least 99.9 % has a phase, 98 % a scope and 99 % a class.
-- note: A step agrees if the stretch that its kernels span differs from its time between events by at most the larger
--   of 1 % and 60 µs.
-- empty: Kernels were not recorded: `kymo suite run cs336 --filter kernels` on a GPU fills this table.
WITH traced AS (
  SELECT
    r.run_id,
    m.size,
    m.size_order,
    m.context,
    m.precision,
    m.mode
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
  JOIN transformer_run m ON m.run_id = r.run_id
  JOIN kernel_pass k ON k.run_id = r.run_id AND k.rank = 0
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
    SELECT sum(x.agrees) || ' of ' || count(*)
    FROM step_span x
    WHERE x.run_id = t.run_id AND x.rank = 0
    HAVING count(*) > 0
  ) AS spans
FROM traced t
JOIN placed p ON p.run_id = t.run_id
ORDER BY t.size_order, t.size, t.context, t.precision, t.mode, t.run_id
