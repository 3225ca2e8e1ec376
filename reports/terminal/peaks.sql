-- SPDX-License-Identifier: Apache-2.0
-- The rows of device_peak in :peaks.
-- column rate: unit="{unit}", prefix="auto", format="significant", digits=3, plus_minus="half_width", relative=true
-- column bare_rate: unit="{unit}", prefix="auto", format="significant", digits=3, hidden=true
-- column core_mhz: title="clock", unit="MHz", format="fixed", digits=0, optional=true, omit=1
-- column memory_mhz: title="memory clock", unit="MHz", format="fixed", digits=0, optional=true, omit=1
-- column measured: title="measured (UTC)", align="right", omit=2
-- column day: hidden=true
-- column run_id: title="run", format="plain", omit=2
SELECT
  trim(p.value ->> 'kind' || ' ' || (p.value ->> 'dtype')) AS peak,
  p.value ->> 'rate' AS rate,
  p.value ->> 'rate' AS bare_rate,
  p.value ->> 'unit' AS unit,
  round(p.value ->> 'core_clock_mhz') AS core_mhz,
  round(p.value ->> 'memory_clock_mhz') AS memory_mhz,
  substr(p.value ->> 'started_at', 1, 16) AS measured,
  max(substr(p.value ->> 'started_at', 1, 10)) OVER () AS day,
  p.value ->> 'run_id' AS run_id,
  p.value ->> 'warnings' AS warnings,
  max(p.value ->> 'rate_high' - p.value ->> 'rate', p.value ->> 'rate' - p.value ->> 'rate_low') / p.value
  ->> 'rate' AS half_width
FROM json_each(:peaks) p
