-- SPDX-License-Identifier: Apache-2.0
-- caption: Calls of kernels that lasted far longer than others of the same name, launch shape and part of the model.
-- column setting: title="case"
-- column kernel: title="kernel", format="code"
-- column place: title="where", format="code"
-- column calls: title="such calls", format="plain"
-- column lost_us: title="time lost", unit="µs", format="significant", digits=4
-- column step: title="worst in step"
-- column duration_us: title="it lasted", unit="µs", format="significant", digits=4
-- column sibling_median_us: title="median", unit="µs", format="significant", digits=4
-- column differs: title="how it differs"
-- note: Sorted by the time lost: what such calls lasted beyond the median of their siblings. Warm-up steps are not
--   looked at, nor kernels of communication; of a run at most the 100 worst calls are kept.
-- empty: No call stood out: none was recorded, or all lasted about as long as their siblings.
-- change it here for more
WITH setting (rows_shown) AS (VALUES (15)),
found AS (
  SELECT
    o.*,
    coalesce(o.module, o.phase)
    || CASE WHEN o.module IS NOT NULL AND o.phase <> 'other' THEN ' (' || o.phase || ')' ELSE '' END AS place
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
  JOIN outlier_call o ON o.run_id = r.run_id AND o.rank = 0
),
ranked AS (
  SELECT
    f.*,
    row_number() OVER (PARTITION BY f.run_id, f.name, f.place ORDER BY f.excess_us DESC, f.sequence) AS nth,
    count(*) OVER same AS calls,
    sum(f.excess_us) OVER same AS lost_us
  FROM found f
  WINDOW same AS (PARTITION BY f.run_id, f.name, f.place)
)
SELECT
  coalesce(
    p.strategy || ' (' || p.setting || ')',
    m.size || ', context ' || m.context || ', ' || m.mode,
    r.workload || ', ' || i.title
  ) AS setting,
  CASE WHEN length(k.short_name) > 60 THEN substr(k.short_name, 1, 59) || '…' ELSE k.short_name END AS kernel,
  k.place,
  k.calls,
  k.lost_us,
  k.step,
  k.duration_us,
  k.sibling_median_us,
  k.differs
FROM ranked k
JOIN run r ON r.run_id = k.run_id
JOIN run_title i ON i.run_id = k.run_id
LEFT JOIN ddp_run p ON p.run_id = k.run_id
LEFT JOIN transformer_run m ON m.run_id = k.run_id
WHERE k.nth = 1
ORDER BY k.lost_us DESC, k.run_id, k.sequence
LIMIT (SELECT rows_shown FROM setting)
