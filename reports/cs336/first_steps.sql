-- SPDX-License-Identifier: Apache-2.0
-- caption: First steps without warm-up by phase, compared with the median of steps 2 and later.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column phase: title="phase", format="code"
-- column first_ms: title="step 0", unit="ms", format="significant"
-- column second_ms: title="step 1", unit="ms", format="significant"
-- column later_median_ms: title="later median", unit="ms", format="significant"
-- column extra_ms: title="step 0 excess", unit="ms", format="significant", digits=3
-- column ratio: title="step 0 / later", format="significant", digits=3
-- column host_ms: title="step 0 host time", unit="ms", format="significant"
-- column device_ms: title="step 0 device time", unit="ms", format="significant"
-- column clock: title="GPU clock after step 0", unit="MHz", format="plain"
-- note: Phase times are device times on a GPU. Host times of a phase include only the time the host waits.
-- empty: The case `timing-warmup` of the suite `cs336` has no completed run without warm-up.
WITH ordered AS (
  SELECT
    t.run_id,
    t.phase,
    t.time_ms,
    row_number() OVER (PARTITION BY t.run_id, t.phase ORDER BY t.time_ms) AS position,
    count(*) OVER (PARTITION BY t.run_id, t.phase) AS steps
  FROM cold c
  JOIN step_time t ON t.run_id = c.run_id
  WHERE t.step > 1
),
later AS (
  SELECT
    run_id,
    phase,
    avg(time_ms) AS median_ms
  FROM ordered
  WHERE position IN ((steps + 1) / 2, (steps + 2) / 2)
  GROUP BY run_id, phase
)
SELECT
  c.size,
  c.context,
  a.phase,
  a.time_ms AS first_ms,
  b.time_ms AS second_ms,
  l.median_ms AS later_median_ms,
  a.time_ms - l.median_ms AS extra_ms,
  a.time_ms / l.median_ms AS ratio,
  a.host_ms,
  a.device_ms,
  a.sm_clock_mhz AS clock
FROM cold c
JOIN step_time a ON a.run_id = c.run_id AND a.step = 0
LEFT JOIN step_time b ON b.run_id = c.run_id AND b.step = 1 AND b.phase = a.phase
LEFT JOIN later l ON l.run_id = c.run_id AND l.phase = a.phase
ORDER BY c.size_order, c.context, c.run_id, a.phase = 'other', a.phase = 'step', a.start_ns
