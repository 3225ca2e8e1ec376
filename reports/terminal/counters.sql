-- SPDX-License-Identifier: Apache-2.0
-- What the hardware counted in each phase.
-- column tensor_flops: title="tensor FLOP", unit="FLOP", prefix="auto", format="significant", digits=4
-- column flops_ratio: title="of declared", format="percent"
-- column hfu: title="HFU", format="percent", optional=true
-- column mfu: title="MFU", format="percent", optional=true
-- column tensor_active: title="tensor cores active", format="percent"
-- column sm_active: title="SMs active", format="percent", omit=1
-- column dram_read_bytes: title="DRAM read", format="bytes"
-- column dram_written_bytes: title="written", format="bytes"
-- column dram_utilization: title="of peak", format="percent", optional=true, omit=2
SELECT
  s.phase,
  s.tensor_flops,
  c.flops_ratio,
  s.hfu,
  c.mfu,
  s.tensor_active,
  s.sm_active,
  s.dram_read_bytes,
  s.dram_written_bytes,
  s.dram_utilization
FROM counter_summary s
JOIN counter_check c ON c.run_id = s.run_id AND c.phase = s.phase
WHERE s.run_id = :run
ORDER BY s.phase <> 'step', s.tensor_flops DESC, s.phase
