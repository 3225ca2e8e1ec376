-- SPDX-License-Identifier: Apache-2.0
-- caption: Kernels other than matmuls with the most time in forward.
-- column setting: title="configuration", once=true
-- column name: title="kernel", format="code"
-- column class: title="class"
-- column calls: title="calls", format="plain"
-- column ms: title="per forward", unit="ms", format="significant", digits=3
-- column share: title="share of forward", unit="%", digits=1
-- note: Inference of the largest traced case; kernels with at least 1 % of it. On a CPU, operators by self time take
--   the place of kernels.
-- empty: Not in this database: `kymo suite run cs336 --filter '^kernels'` adds this data.
WITH traced AS (
  SELECT
    r.run_id,
    m.size,
    m.size_order,
    m.context,
    m.mode
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite_case = 'kernels' AND r.status = 'ok'
  JOIN transformer_run m ON m.run_id = r.run_id AND m.mode = 'forward'
),
work AS (
  SELECT p.*
  FROM traced t
  CROSS JOIN profile_entry p ON p.run_id = t.run_id AND p.rank = 0
),
chosen AS (
  SELECT *
  FROM traced
  ORDER BY size_order DESC, context DESC, run_id DESC
  LIMIT 1
),
named AS (
  SELECT
    c.size || ', context ' || c.context AS setting,
    w.name,
    w.class,
    sum(w.calls) AS calls,
    sum(w.ms) AS ms,
    sum(sum(w.ms)) OVER () AS all_ms
  FROM chosen c
  JOIN work w ON w.run_id = c.run_id AND w.phase = 'forward'
  GROUP BY w.name, w.class
)
SELECT
  setting,
  CASE WHEN length(name) > 60 THEN substr(name, 1, 59) || '…' ELSE name END AS name,
  class,
  CAST(round(calls) AS INTEGER) AS calls,
  ms,
  100 * ms / all_ms AS share
FROM named
WHERE class <> 'matmul' AND ms >= 0.01 * all_ms
ORDER BY ms DESC, name
LIMIT 10
