-- SPDX-License-Identifier: Apache-2.0
-- caption: Machines and clocks.
-- column device: title="device"
-- column runs: title="runs"
-- column memory: title="memory", format="bytes"
-- column units: title="multiprocessors or cores", format="plain"
-- column sm_clock: title="SM clock of the steps (MHz)"
-- column memory_clock: title="memory clock", unit="MHz", format="plain"
-- column power: title="power", unit="W", format="plain"
-- column capped: title="power-capped runs", format="plain", optional=true
-- note: Clocks and power are medians of the steps of each run, lowest to highest over the runs. Power-capped:
--   the driver lowered the clock to stay within the power limit in most readings. – means: no reading, as
--   on a CPU.
-- empty: No device was recorded.
SELECT
  d.name AS device,
  count(DISTINCT k.run_id) AS runs,
  d.memory_bytes AS memory,
  d.multiprocessors AS units,
  CASE
    WHEN min(c.sm_clock_mhz) = max(c.sm_clock_mhz) THEN CAST(min(c.sm_clock_mhz) AS TEXT)
    ELSE min(c.sm_clock_mhz) || ' – ' || max(c.sm_clock_mhz)
  END AS sm_clock,
  max(c.memory_clock_mhz) AS memory_clock,
  CAST(max(c.power_w) AS INTEGER) AS power,
  count(DISTINCT CASE WHEN 2 * c.power_capped > c.readings THEN c.run_id END) AS capped
FROM selected_run s
JOIN rank k ON k.run_id = s.run_id
JOIN device d ON d.device_id = k.device_id
LEFT JOIN device_clock c ON c.run_id = s.run_id
GROUP BY d.device_id
ORDER BY runs DESC, d.device_id
