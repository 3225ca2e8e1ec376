-- SPDX-License-Identifier: Apache-2.0
-- caption: Communication as a share of the step, by strategy:
-- empty: No data-parallel training measured: `kymo suite run cs336 --filter ddp` adds this data.
SELECT
  x.setting,
  x.run_id,
  x.strategy,
  a.key AS series,
  a.value AS share
FROM selected_run s
JOIN ddp_summary x ON x.run_id = s.run_id AND x.family = 'data_parallel'
JOIN
  json_each(
    json_object(
      'phase communication', CASE WHEN x.communication_ms >= 0.02 THEN 100 * x.communication_share END,
      'exposed (trace)', 100 * (
        SELECT avg(o.exposed_share)
        FROM communication_overlap o
        WHERE o.run_id = x.run_id AND o.phase = 'step'
      )
    )
  ) a
WHERE a.value IS NOT NULL
ORDER BY x.setting, a.id, x.strategy_order, x.bucket_mb, x.run_id
