-- SPDX-License-Identifier: Apache-2.0
-- caption: Measured peaks.
-- column name: title="device"
-- column kind: title="kind", format="code"
-- column dtype: title="dtype"
-- column rate: title="rate", format="significant", digits=3
-- column unit: title="unit"
-- column interval: title="interval", unit="%", digits=1
-- column core_clock_mhz: title="clock", unit="MHz", format="plain"
-- column memory_clock_mhz: title="memory clock", unit="MHz", format="plain"
-- column measured: title="measured (UTC)"
-- column warnings: title="warnings"
-- note: *interval* is the larger distance from the median to the ends of its confidence interval. The clock of a CPU is
--   that of one core directly before the measured steps; clocks of a GPU are means of the measured steps.
-- empty: No peak measured: `kymo peaks` measures those of this machine.
SELECT
  p.name,
  p.kind,
  p.dtype,
  p.rate / CASE p.unit WHEN 'B/s' THEN 1e9 ELSE 1e12 END AS rate,
  CASE p.unit WHEN 'B/s' THEN 'GB/s' ELSE 'TFLOP/s' END AS unit,
  100 * max(p.rate_high - p.rate, p.rate - p.rate_low) / p.rate AS interval,
  CAST(round(p.core_clock_mhz) AS INTEGER) AS core_clock_mhz,
  CAST(round(p.memory_clock_mhz) AS INTEGER) AS memory_clock_mhz,
  replace(substr(p.started_at, 1, 16), 'T', ' ') AS measured,
  p.warnings
FROM device_peak p
JOIN selected_run s ON s.run_id = p.run_id
ORDER BY p.device_kind DESC, p.name, p.device_id, p.kind = 'matmul', p.kind, p.dtype
