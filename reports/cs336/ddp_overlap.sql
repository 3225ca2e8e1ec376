-- SPDX-License-Identifier: Apache-2.0
-- caption: Communication on the GPU: how much of it computing hides, from traces.
-- column setting: title="case", once=true
-- column strategy: title="strategy"
-- column compute: title="computing", unit="ms", format="significant", digits=4
-- column communication: title="communication", unit="ms", format="significant", digits=4
-- column overlap: title="both", unit="ms", format="significant", digits=3
-- column exposed: title="exposed", unit="ms", format="significant", digits=3
-- column exposed_share: title="of step", unit="%", digits=1
-- column overlap_share: title="hidden", unit="%", digits=1
-- column trace_share: title="hidden, whole trace", unit="%", digits=1
-- note: Means over ranks and measured steps. Exposed: communication ran and nothing else. Hidden: the share of
--   communication during which something computed, which HTA calls comp_comm_overlap_pctg and takes over the whole
--   trace, warm-up included.
-- note: A kernel of communication runs from its own begin, also while it waits for other ranks.
-- empty: No kernels of communication were traced: `kymo suite run cs336 --filter ddp` on two GPUs fills this table.
SELECT
  p.setting,
  p.strategy,
  avg(o.compute_ms) AS compute,
  avg(o.communication_ms) AS communication,
  avg(o.overlap_ms) AS overlap,
  avg(o.exposed_ms) AS exposed,
  100 * avg(o.exposed_share) AS exposed_share,
  100 * avg(o.overlap_share) AS overlap_share,
  100 * t.overlap_share AS trace_share
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
JOIN ddp_run p ON p.run_id = r.run_id AND p.workload <> 'sharded_optimizer'
JOIN communication_overlap o ON o.run_id = r.run_id AND o.phase = 'step'
LEFT JOIN (
  SELECT
    run_id,
    avg(overlap_share) AS overlap_share
  FROM trace_overlap
  GROUP BY run_id
) t ON t.run_id = r.run_id
GROUP BY r.run_id
ORDER BY p.setting, p.strategy_order, p.bucket_mb, r.run_id
