-- SPDX-License-Identifier: Apache-2.0
-- caption: Devices.
-- column name: title="device"
-- column kind: title="kind"
-- column memory_bytes: title="memory", format="bytes"
-- column multiprocessors: title="SMs or cores"
-- column max_sm_clock_mhz: title="max clock", unit="MHz", format="plain"
-- column runs: title="runs"
-- empty: No run used a device.
SELECT
  d.name,
  d.kind,
  d.memory_bytes,
  d.multiprocessors,
  d.max_sm_clock_mhz,
  count(DISTINCT k.run_id) AS runs
FROM selected_run s
JOIN rank k ON k.run_id = s.run_id
JOIN device d ON d.device_id = k.device_id
GROUP BY d.device_id
ORDER BY d.kind DESC, d.name
