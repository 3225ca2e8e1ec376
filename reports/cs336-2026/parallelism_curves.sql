-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of computation and of communication by number of devices, at the measured rates. Communication binds
--   where its curve is above that of computation, beyond the crossing of each plot, which is the limit of its formula.
-- empty: Without numbers: `kymo suite run cs336 --filter '^(collectives|peaks)'` measures bandwidth and rate.
SELECT
  c.devices,
  c.strategy || ', ' || c.direction AS strategy,
  t.column1 AS series,
  CASE t.column1 WHEN 'computation' THEN c.computation_ms ELSE c.communication_ms END AS ms
FROM measured m
JOIN parallelism_curve c ON c.run_id = m.run_id AND c.backend = m.backend AND c.ranks = m.ranks
CROSS JOIN (VALUES ('computation'), ('communication')) t
ORDER BY c.strategy, c.direction DESC, t.column1 DESC, c.devices
