-- SPDX-License-Identifier: Apache-2.0
-- caption: Communication as a share of the step, by strategy:
-- empty: No data-parallel training measured: `kymo suite run cs336 --filter ddp` adds this data.
WITH shares AS (
  SELECT
    x.setting,
    x.run_id,
    x.strategy,
    x.strategy_order,
    x.bucket_mb,
    x.communication_share,
    (
      SELECT avg(o.exposed_share)
      FROM communication_overlap o
      WHERE o.run_id = x.run_id AND o.phase = 'step'
    ) AS exposed_share
  FROM selected_run s
  JOIN ddp_summary x ON x.run_id = s.run_id AND x.family = 'data_parallel'
)
SELECT
  a.setting,
  a.run_id,
  a.strategy,
  a.series,
  a.share
FROM (
  SELECT
    setting,
    run_id,
    strategy,
    strategy_order,
    bucket_mb,
    0 AS series_order,
    'phase communication' AS series,
    100 * communication_share AS share
  FROM shares
  UNION ALL
  SELECT
    setting,
    run_id,
    strategy,
    strategy_order,
    bucket_mb,
    1,
    'exposed (trace)',
    100 * exposed_share
  FROM shares
) a
WHERE a.share IS NOT NULL
ORDER BY a.setting, a.series_order, a.strategy_order, a.bucket_mb, a.run_id
