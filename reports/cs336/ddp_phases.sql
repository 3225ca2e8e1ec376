-- SPDX-License-Identifier: Apache-2.0
-- caption: Phase times by strategy, mean over ranks:
-- empty: No data-parallel training measured: `kymo suite run cs336 --filter ddp` adds this data.
SELECT
  x.setting,
  x.run_id,
  x.strategy,
  f.phase,
  CASE f.phase_order
    WHEN 0 THEN x.forward_ms
    WHEN 1 THEN x.backward_ms
    WHEN 2 THEN x.communication_ms
    ELSE x.optimizer_ms
  END AS mean_ms
FROM selected_run s
JOIN ddp_summary x ON x.run_id = s.run_id AND x.family = 'data_parallel' AND x.rank_step_ms IS NOT NULL
JOIN (
  SELECT
    0 AS phase_order,
    'forward' AS phase
  UNION ALL
  SELECT
    1,
    'backward'
  UNION ALL
  SELECT
    2,
    'communication'
  UNION ALL
  SELECT
    3,
    'optimizer'
) f
ORDER BY x.setting, f.phase_order, x.strategy_order, x.bucket_mb, s.run_id
