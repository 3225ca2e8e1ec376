-- SPDX-License-Identifier: Apache-2.0
-- The modules in which the tensor cores execute the most.
-- column tensor_flops: title="tensor FLOP", unit="FLOP", prefix="auto", format="significant", digits=4
-- column calls: title="calls/step", format="general", omit=1
-- column dram_bytes: title="DRAM", format="bytes"
-- column tensor_active: title="tensor cores active", format="percent"
SELECT
  m.module,
  m.phase,
  m.calls,
  m.tensor_flops,
  m.dram_bytes,
  m.tensor_active
FROM counter_module m
WHERE m.run_id = :run
ORDER BY m.tensor_flops DESC, m.dram_bytes DESC, m.module, m.phase
LIMIT 10
