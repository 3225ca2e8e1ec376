-- SPDX-License-Identifier: Apache-2.0
-- caption: Phase times by strategy, mean over ranks:
-- empty: No data-parallel training measured: `kymo suite run cs336 --filter ddp` adds this data.
SELECT
  x.setting,
  x.run_id,
  x.strategy,
  f.key AS phase,
  f.value AS mean_ms
FROM selected_run s
JOIN ddp_summary x ON x.run_id = s.run_id AND x.family = 'data_parallel' AND x.rank_step_ms IS NOT NULL
JOIN
  json_each(
    json_object(
      'forward', x.forward_ms,
      'backward', x.backward_ms,
      'communication', x.communication_ms,
      'optimizer', x.optimizer_ms
    )
  ) f
ORDER BY x.setting, f.id, x.strategy_order, x.bucket_mb, s.run_id
