-- SPDX-License-Identifier: Apache-2.0
-- caption: Kernel calls that took far longer than other calls with the same name, launch configuration and module.
-- column setting: title="configuration"
-- column kernel: title="kernel", format="code"
-- column module: title="module", format="code"
-- column calls: title="outliers", format="plain"
-- column total_excess_us: title="extra time", unit="µs", format="significant", digits=4
-- column step: title="step of worst"
-- column duration_us: title="duration of worst", unit="µs", format="significant", digits=4
-- column group_median_us: title="group median", unit="µs", format="significant", digits=4
-- column possible_cause: title="possible cause"
-- note: Sorted by extra time: total excess of the outliers over the median of their group. Warm-up steps and
--   communication kernels are excluded; at most the 100 worst calls of a run are kept.
-- empty: No outlier kernel calls recorded.
-- number of rows shown
WITH setting (rows_shown) AS (VALUES (15)),
found AS (
  SELECT
    o.*,
    coalesce(o.module, o.phase)
    || CASE WHEN o.module IS NOT NULL AND o.phase <> 'other' THEN ' (' || o.phase || ')' ELSE '' END AS module_phase
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id
  JOIN outlier_call o ON o.run_id = r.run_id AND o.rank = 0
),
ranked AS (
  SELECT
    f.*,
    row_number() OVER (PARTITION BY f.run_id, f.name, f.module_phase ORDER BY f.excess_us DESC, f.sequence) AS position,
    count(*) OVER same AS calls,
    sum(f.excess_us) OVER same AS total_excess_us
  FROM found f
  WINDOW same AS (PARTITION BY f.run_id, f.name, f.module_phase)
)
SELECT
  coalesce(
    p.strategy || ' (' || p.setting || ')',
    m.size || ', context ' || m.context || ', ' || m.mode,
    r.workload || ', ' || i.title
  ) AS setting,
  CASE WHEN length(k.short_name) > 64 THEN substr(k.short_name, 1, 63) || '…' ELSE k.short_name END AS kernel,
  k.module_phase AS module,
  k.calls,
  k.total_excess_us,
  k.step,
  k.duration_us,
  k.group_median_us,
  k.possible_cause
FROM ranked k
JOIN run r ON r.run_id = k.run_id
JOIN selected_run i ON i.run_id = k.run_id
LEFT JOIN ddp_run p ON p.run_id = k.run_id
LEFT JOIN transformer_run m ON m.run_id = k.run_id
WHERE k.position = 1
ORDER BY k.total_excess_us DESC, k.run_id, k.sequence
LIMIT (SELECT rows_shown FROM setting)
