-- SPDX-License-Identifier: Apache-2.0
-- caption: Utilization of the whole GPU, by all processes.
-- column title: title="run", once=true, optional=true
-- column pass: title="pass", once=true
-- column part: title="phase", format="code"
-- column seconds: title="measured", unit="s", format="significant", digits=3
-- column sm_utilization: title="SMs busy", format="percent"
-- column sm_occupancy: title="occupancy", format="percent"
-- column tensor_utilization: title="tensor cores", format="percent"
-- column dram_utilization: title="DRAM bandwidth", format="percent"
-- column kernel_time: title="time with kernels", format="percent"
-- column pcie_bytes_per_s: title="PCIe", unit="B/s", prefix="auto", format="significant", digits=3, optional=true
-- column nvlink_bytes_per_s: title="NVLink", unit="B/s", prefix="auto", format="significant", digits=3, optional=true
-- note: Of rank 0, in intervals of about 100 ms. Phases have rows if a step takes at least a second; intervals that are
--   only partly within a phase do not count for it.
-- empty: No utilization of a GPU was measured: the passes `trace`, `ops` and `memory` measure it.
SELECT
  u.title,
  u.pass,
  coalesce(u.phase, 'whole pass') AS part,
  u.seconds,
  u.sm_utilization,
  u.sm_occupancy,
  u.tensor_utilization,
  u.dram_utilization,
  u.kernel_time,
  u.pcie_bytes_per_s,
  u.nvlink_bytes_per_s
FROM gpu_utilized u
WHERE u.rank = 0
ORDER BY u.run_id, u.pass, u.phase IS NOT NULL, u.phase <> 'step', u.phase
