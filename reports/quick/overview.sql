-- SPDX-License-Identifier: Apache-2.0
-- caption: What a step consists of: share of each phase, for the newest run of each workload with several
--   phases.
-- empty: No run with several phases was completed.
-- With several ranks, the phases of rank 0: the sum over the slowest rank of each phase can exceed a step.
WITH newest AS (
  SELECT
    r.workload,
    max(r.run_id) AS run_id
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.status = 'ok'
  JOIN phase_time t ON t.run_id = r.run_id AND t.phase NOT IN ('step', 'other')
  GROUP BY r.workload
),
phases AS (
  SELECT
    n.workload,
    t.phase,
    sum(coalesce(t.device_ms, t.host_ms)) AS ms,
    min(t.start_ns) AS start_ns
  FROM newest n
  CROSS JOIN pass_step_time t ON t.run_id = n.run_id AND t.rank = 0 AND t.pass = 'time' AND t.warmup = 0
  GROUP BY n.workload, t.phase
)
SELECT
  p.workload,
  p.phase,
  100 * p.ms / w.ms AS share
FROM phases p
JOIN phases w ON w.workload = p.workload AND w.phase = 'step'
WHERE
  p.phase <> 'step'
  AND (SELECT count(*) FROM phases o WHERE o.workload = p.workload AND o.phase NOT IN ('step', 'other')) > 1
ORDER BY
  p.phase = 'other',
  max(p.start_ns - w.start_ns) OVER (PARTITION BY p.phase),
  p.phase,
  p.workload
