-- SPDX-License-Identifier: Apache-2.0
-- The candidates of `kymo ab --json`, by rank. The statistic that is compared comes first, with its range; the other
-- one is shown where it disagrees.
-- column runs: omit=1
-- column time_ns: title="{statistic} {time}", unit="ns", prefix="auto", format="significant", digits=3
-- column min_ns: title="between runs", unit="ns", prefix="auto", format="significant", digits=3, to="max_ns", omit=2
-- column other_ns: title="{other} {time}", unit="ns", prefix="auto", format="significant", digits=3, optional=true
-- column processor_ns: title="processor time", unit="ns", prefix="auto", format="significant", digits=3,
--   optional=true, omit=1
-- column resident_peak_bytes: title="peak memory", format="bytes", optional=true, omit=1
SELECT
  c.value ->> 'rank' AS rank,
  c.value ->> 'candidate' AS candidate,
  c.value ->> 'runs' AS runs,
  c.value ->> 'time_ns' AS time_ns,
  c.value ->> 'min_ns' AS min_ns,
  c.value ->> 'max_ns' AS max_ns,
  iif(max(c.value ->> 'unlike_steps' <> '') OVER (), c.value ->> (o.name || '_ns'), NULL) AS other_ns,
  c.value ->> 'processor_ns' AS processor_ns,
  c.value ->> 'resident_peak_bytes' AS resident_peak_bytes,
  :statistic AS statistic,
  o.name AS other,
  :time AS time
FROM json_each(:candidates) c
JOIN (SELECT iif(:statistic = 'median', 'mean', 'median') AS name) o
ORDER BY c.key
