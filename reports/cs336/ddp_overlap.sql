-- SPDX-License-Identifier: Apache-2.0
-- caption: Overlap of communication and compute on the GPU, from traces.
-- column setting: title="configuration", once=true
-- column strategy: title="strategy"
-- column compute: title="compute", unit="ms", format="significant", digits=4
-- column communication: title="communication", unit="ms", format="significant", digits=4
-- column overlap: title="overlap", unit="ms", format="significant", digits=3
-- column exposed: title="exposed", unit="ms", format="significant", digits=3
-- column exposed_share: title="share of step", unit="%", digits=1
-- column overlap_share: title="hidden", unit="%", digits=1
-- column trace_share: title="hidden (whole trace)", unit="%", digits=1
-- note: Means over ranks and measured steps. Exposed: only communication ran. Hidden: share of communication that
--   overlaps with compute; HTA computes it over the whole trace including warm-up (comp_comm_overlap_pctg).
-- note: The duration of a communication kernel includes the time it waits for other ranks.
-- empty: No communication kernels traced: `kymo suite run cs336 --filter ddp` on two GPUs adds this data.
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
JOIN ddp_run p ON p.run_id = s.run_id AND p.family = 'data_parallel'
JOIN communication_overlap o ON o.run_id = s.run_id AND o.phase = 'step'
LEFT JOIN (
  SELECT
    run_id,
    avg(overlap_share) AS overlap_share
  FROM trace_overlap
  GROUP BY run_id
) t ON t.run_id = s.run_id
GROUP BY s.run_id
ORDER BY p.setting, p.strategy_order, p.bucket_mb, s.run_id
