-- SPDX-License-Identifier: Apache-2.0
-- The phases of a pass that records events, for runs without a time pass.
-- column pass: hidden=true
-- column steps: hidden=true
-- column mean_ms: title="mean time", unit="ms", prefix="auto", format="significant", digits=3
-- column share: format="percent"
SELECT
  p.pass,
  p.phase,
  max(w.steps) AS steps,
  sum(p.host_ms) / max(w.steps) AS mean_ms,
  sum(p.host_ms) / max(w.host_ms) AS share
FROM pass_step_time p
JOIN (
  SELECT
    rank,
    pass,
    count(*) AS steps,
    sum(host_ms) AS host_ms
  FROM pass_step_time
  WHERE is_least_observed AND pass <> 'time' AND NOT warmup AND phase = 'step' AND run_id = :run
  GROUP BY rank, pass
  ORDER BY rank
  LIMIT 1
) w ON w.rank = p.rank AND w.pass = p.pass
WHERE NOT p.warmup AND p.run_id = :run
GROUP BY p.pass, p.phase
ORDER BY p.phase <> 'step', p.phase = 'other', sum(p.host_ms) DESC
