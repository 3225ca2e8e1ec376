-- SPDX-License-Identifier: Apache-2.0
-- caption: Kernels other than matmuls with the most time in forward.
-- column setting: title="configuration", once=true
-- column name: title="kernel", format="code"
-- column class: title="class"
-- column module: title="module with most of it"
-- column calls: title="calls", format="plain"
-- column ms: title="per forward", unit="ms", format="significant", digits=3
-- column share: title="share of forward", unit="%", digits=1
-- note: Module: where the kernel takes the most time, with its share of that time if it also runs in others.
-- note: Inference of the largest traced case; kernels with at least 1 % of it. On a CPU, operators by self time take
--   the place of kernels.
-- empty: Not in this database: `kymo suite run cs336 --filter '^kernels'` adds this data.
WITH chosen AS (
  SELECT *
  FROM traced
  WHERE mode = 'forward'
  ORDER BY size_order DESC, context DESC, run_id DESC
  LIMIT 1
),
part AS (
  SELECT
    c.size || ', context ' || c.context AS setting,
    w.name,
    w.class,
    w.module,
    sum(w.calls) AS calls,
    sum(w.ms) AS ms,
    row_number() OVER (PARTITION BY w.name, w.class ORDER BY sum(w.ms) DESC, w.module) AS position
  FROM chosen c
  JOIN profiled w ON w.run_id = c.run_id AND w.phase = 'forward'
  GROUP BY w.name, w.class, w.module
),
named AS (
  SELECT
    setting,
    name,
    class,
    max(CASE position WHEN 1 THEN module END)
    || CASE count(*) WHEN 1 THEN '' ELSE printf(' (%.0f %%)', 100 * max(ms) / sum(ms)) END AS module,
    sum(calls) AS calls,
    sum(ms) AS ms,
    sum(sum(ms)) OVER () AS all_ms
  FROM part
  GROUP BY name, class
)
SELECT
  setting,
  CASE WHEN length(name) > 64 THEN substr(name, 1, 63) || '…' ELSE name END AS name,
  class,
  module,
  CAST(round(calls) AS INTEGER) AS calls,
  ms,
  100 * ms / all_ms AS share
FROM named
WHERE class <> 'matmul' AND ms >= 0.01 * all_ms
ORDER BY ms DESC, name
LIMIT 10
