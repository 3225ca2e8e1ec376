-- SPDX-License-Identifier: Apache-2.0
-- caption: Times of all devices and machines against the median of their case.
-- empty: Fewer than six devices or machines measured the same case.
SELECT
  f.device_name,
  f.suite_case || coalesce(', ' || t.title_in_case, '') AS measurement,
  100.0 * (row_number() OVER (PARTITION BY f.case_key, f.part, f.device_name ORDER BY f.time_ms) - 0.5)
  / f.measurements AS percentile,
  100 * f.excess AS excess_percent
FROM fleet_measurement f
JOIN run_title t ON t.run_id = f.run_id
WHERE f.measurements >= 6
ORDER BY f.device_name, measurement, percentile
