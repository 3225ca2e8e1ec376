-- SPDX-License-Identifier: Apache-2.0
-- caption: What the devices can do at most.
-- column name: title="device"
-- column dtype: title="type"
-- column multiprocessors: title="multiprocessors"
-- column flops_per_clock: title="operations per clock of each", format="plain"
-- column max_sm_clock_mhz: title="highest clock", unit="MHz", format="plain"
-- column peak: title="product", unit="TFLOP/s", format="significant", digits=4
-- note: Operations per clock are those of the architecture, a multiply-add counting two: fp32 by ordinary
--   multiply-adds, bf16 by tensor cores that add in fp32. A vendor's data sheet may take a lower clock. Kernels that
--   make products in fp32 out of TF32 ones can pass the figure for fp32.
-- empty: No kernel of attention was timed on a device whose peak kymo knows (A100, H100, H200, B200): charts have no
--   roof, and shares of it are missing.
SELECT DISTINCT
  p.name,
  p.dtype,
  p.multiprocessors,
  p.flops_per_clock,
  p.max_sm_clock_mhz,
  p.flops_per_s / 1e12 AS peak
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336' AND r.suite_case LIKE 'flash%'
JOIN attention_run a ON a.run_id = r.run_id
JOIN device_peak p ON p.device_id = a.device_id AND p.dtype = a.dtype
ORDER BY p.name, p.dtype
