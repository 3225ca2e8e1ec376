-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of the phases of a step.
-- column phase: title="phase", format="code"
-- column ms: title="time", unit="ms", prefix="auto", format="measured", plus_minus="std_ms"
-- column share: title="of the step", unit="%", digits=1
-- column busy_ms: title="GPU busy", unit="ms", format="significant", digits=3, optional=true,
--   note="GPU busy and idle: in the traced steps, while kernels of the phase run."
-- column idle_share: title="GPU idle", unit="%", digits=1, optional=true
-- column operators: title="operators", format="plain", optional=true, note="Operators: number of calls per step."
-- column kernels: title="kernels", format="plain", optional=true, note="Kernels: number of launches per step."
-- note: Mean over the measured steps ± standard deviation. `other` is the time outside of all phases.
-- empty: No steps were measured.
WITH timed AS (
  SELECT
    t.run_id,
    t.phase,
    min(t.start_ns) AS start_ns,
    avg(coalesce(t.device_ms, t.host_ms)) AS ms,
    stddev(coalesce(t.device_ms, t.host_ms)) AS std_ms
  FROM chosen c
  CROSS JOIN pass_step_time t ON t.run_id = c.run_id AND t.rank = 0 AND t.warmup = 0
  WHERE t.is_least_observed = 1
  GROUP BY t.run_id, t.phase
),
called AS (
  SELECT
    o.phase,
    sum(o.calls) AS calls
  FROM chosen c
  CROSS JOIN op_summary o ON o.run_id = c.run_id AND o.rank = 0 AND o.pass = 'ops'
  GROUP BY o.phase
)
SELECT
  t.phase,
  t.ms,
  t.std_ms,
  100 * t.ms / (SELECT w.ms FROM timed w WHERE w.phase = 'step') AS share,
  g.busy_ms,
  100 * g.idle_share AS idle_share,
  CAST(round(o.calls) AS INTEGER) AS operators,
  CAST(round(g.kernels) AS INTEGER) AS kernels
FROM timed t
LEFT JOIN launch_gap g ON g.run_id = t.run_id AND g.rank = 0 AND g.phase = t.phase
LEFT JOIN called o ON o.phase = t.phase
ORDER BY t.phase = 'step', t.phase = 'other', t.start_ns
