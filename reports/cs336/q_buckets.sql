-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time by bucket size, compared with one call per gradient.
-- column setting: title="configuration", once=true
-- column strategy: title="strategy"
-- column mean_ms: title="step", unit="ms", format="measured", plus_minus="std_ms"
-- column median_ms: title="median", unit="ms", format="significant", digits=4
-- column launches: title="collectives per step", format="plain"
-- column backward_ms: title="backward", unit="ms", format="significant", digits=3
-- column communication_ms: title="communication", unit="ms", format="significant", digits=3
-- column speedup: title="speedup over the last row", format="significant", digits=3
-- column verdict: title="difference from the last row"
-- note: The last row has no buckets. Outside the noise: as defined in section At a glance.
-- empty: Not in this database: `kymo suite run cs336 --filter '^ddp'` adds this data; it needs one GPU per process, or
--   `--profile small` on a CPU.
WITH step AS (
  SELECT
    r.run_id,
    r.suite_case,
    x.setting,
    x.strategy,
    x.bucket_mb,
    x.comparison_group,
    x.backward_ms,
    x.communication_ms,
    t.mean_ms,
    t.std_ms,
    t.median_ms,
    t.low,
    t.high,
    d.status_label,
    (SELECT sum(c.launches) FROM collective_summary c WHERE c.run_id = r.run_id AND c.pass = 'trace') AS launches
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite_case IN ('ddp-buckets', 'ddp-overlap')
  JOIN ddp_summary x ON x.run_id = r.run_id
  JOIN run_status d ON d.run_id = r.run_id
  LEFT JOIN phase_noise t ON t.run_id = r.run_id AND t.phase = 'step'
)
SELECT
  b.setting,
  b.strategy,
  CASE WHEN b.status_label <> '' THEN b.status_label ELSE b.mean_ms END AS mean_ms,
  b.std_ms,
  b.median_ms,
  CAST(round(b.launches) AS INTEGER) AS launches,
  b.backward_ms,
  b.communication_ms,
  CASE WHEN b.suite_case = 'ddp-buckets' THEN o.median_ms / b.median_ms END AS speedup,
  CASE
    WHEN b.suite_case = 'ddp-overlap' OR o.run_id IS NULL THEN NULL
    WHEN b.high < o.low OR b.low > o.high THEN 'outside the noise'
    WHEN b.low IS NOT NULL AND o.low IS NOT NULL THEN 'within the noise'
  END AS verdict
FROM step b
LEFT JOIN step o ON o.suite_case = 'ddp-overlap' AND o.comparison_group = b.comparison_group
ORDER BY b.setting, b.suite_case, b.bucket_mb, b.run_id
