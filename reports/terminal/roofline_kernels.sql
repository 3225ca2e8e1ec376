-- SPDX-License-Identifier: Apache-2.0
-- The kernels with the most time of the first rank that recorded some.
-- column number: title="#", omit=1
-- column short_name: title="kernel"
-- column module: optional=true, omit=3
-- column phase: omit=2
-- column dtype: title="type", optional=true, omit=3
-- column time_ms: title="time/step", unit="ms", prefix="auto", format="significant", digits=3
-- column share_of_step: title="share", format="percent", omit=1
-- column calls: title="calls/step", format="general", omit=3
-- column waves: format="general", digits=3, optional=true, omit=2
-- column active_occupancy: title="warps", format="percent", optional=true, omit=2
-- column attained: title="of roofline", format="percent", optional=true
-- column work_source: title="work", optional=true, omit=2
-- column run_id: hidden=true
-- column rank: hidden=true
-- column pass: hidden=true
-- column name: hidden=true
-- column class: hidden=true
-- column launch_config: hidden=true
-- column mean_us: hidden=true
-- column blocks: hidden=true
-- column threads: hidden=true
-- column registers: hidden=true
-- column shared_bytes: hidden=true
-- column resident_blocks: hidden=true
-- column limiting_resource: hidden=true
-- column occupancy: hidden=true
-- column last_wave: hidden=true
-- column tail_loss: hidden=true
-- column idle_share: hidden=true
-- column operator: hidden=true
-- column arguments: hidden=true
-- column flop_rate: hidden=true
-- column byte_rate: hidden=true
-- column reason: hidden=true
-- column thresholds: hidden=true
-- column next_step: hidden=true
SELECT
  row_number() OVER (ORDER BY k.time_ms DESC, k.name) AS number,
  k.short_name,
  k.module,
  k.phase,
  k.dtype,
  k.time_ms,
  k.share_of_step,
  k.calls,
  k.waves,
  k.active_occupancy,
  k.attained,
  k.work_source,
  k.verdict,
  k.run_id,
  k.rank,
  k.pass,
  k.name,
  k.class,
  k.launch_config,
  k.mean_us,
  k.blocks,
  k.threads,
  k.registers,
  k.shared_bytes,
  k.resident_blocks,
  k.limiting_resource,
  k.occupancy,
  k.last_wave,
  k.tail_loss,
  k.idle_share,
  k.operator,
  k.arguments,
  k.flop_rate,
  k.byte_rate,
  k.reason,
  k.thresholds,
  k.next_step
FROM kernel_verdict k
WHERE
  k.run_id = :run
  AND (k.rank, k.pass) = (
    SELECT
      f.rank,
      f.pass
    FROM kernel_verdict f WHERE f.run_id = :run ORDER BY f.rank, f.time_ms DESC, f.name LIMIT 1
  )
ORDER BY number
LIMIT 10
