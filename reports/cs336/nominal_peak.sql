-- SPDX-License-Identifier: Apache-2.0
-- caption: Theoretical peak of the devices.
-- column name: title="device"
-- column dtype: title="dtype"
-- column multiprocessors: title="SMs"
-- column flops_per_clock: title="operations per clock and SM", format="plain"
-- column max_sm_clock_mhz: title="max clock", unit="MHz", format="plain"
-- column peak: title="peak", unit="TFLOP/s", format="significant", digits=4
-- note: Operations per clock of the architecture, counting a multiply-add as two: fp32 on CUDA cores, bf16 on tensor
--   cores with fp32 accumulation. Data sheets may assume a lower clock. Kernels that emulate fp32 with TF32 can exceed
--   the fp32 peak.
-- empty: No attention kernels measured on a device with a known peak (A100, H100, H200, B200). Charts have no reference
--   line, and shares of the peak are not available.
SELECT DISTINCT
  p.name,
  p.dtype,
  p.multiprocessors,
  p.flops_per_clock,
  p.max_sm_clock_mhz,
  p.flops_per_s / 1e12 AS peak
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite_case LIKE 'flash%'
JOIN attention_run a ON a.run_id = r.run_id
JOIN nominal_peak p ON p.device_id = a.device_id AND p.dtype = a.dtype
ORDER BY p.name, p.dtype
