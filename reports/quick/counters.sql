-- SPDX-License-Identifier: Apache-2.0
-- caption: What the hardware executed, per step, against the declared work.
-- column title: title="run", once=true
-- column phase: title="phase", format="code"
-- column counted_gflop: title="executed", unit="GFLOP", format="significant", digits=4
-- column flops_ratio: title="of declared", unit="%", digits=1
-- column hfu: title="HFU", unit="%", digits=1
-- column mfu: title="MFU", unit="%", digits=1
-- column tensor_active: title="tensor cores active", unit="%", digits=1
-- column dram_gb: title="DRAM", unit="GB", format="significant", digits=3
-- column bytes_ratio: title="of minimum", unit="%", digits=0
-- column sentence: title="finding"
-- note: Executed: operations of the tensor cores, with padding and recomputation; products in fp32 outside of the
--   tensor cores are not counted. HFU: at the measured peaks of their types. MFU: HFU times the share of the operations
--   that the model needs.
-- empty: No hardware counters: the pass `counters` reads those of NVIDIA GPUs.
SELECT
  s.title,
  c.phase,
  c.counted_flops / 1e9 AS counted_gflop,
  100 * c.flops_ratio AS flops_ratio,
  100 * c.hfu AS hfu,
  100 * c.mfu AS mfu,
  100 * u.tensor_active AS tensor_active,
  c.dram_bytes / 1e9 AS dram_gb,
  100 * c.bytes_ratio AS bytes_ratio,
  c.sentence
FROM selected_run s
JOIN counter_check c ON c.run_id = s.run_id
JOIN counter_summary u ON u.run_id = c.run_id AND u.phase = c.phase
ORDER BY c.run_id, c.phase <> 'step', c.phase
