-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of each phase, mean and standard deviation:
-- empty: No workload here divides its step into phases.
-- More bars than these could not be told apart; the prose says how many runs a chart leaves out.
WITH shown AS (
  SELECT run_id
  FROM (
    SELECT
      y.run_id,
      row_number() OVER (PARTITION BY o.workload ORDER BY o.run_id) AS place
    FROM selected_run y
    JOIN run o ON o.run_id = y.run_id
  )
  WHERE place <= 40
)
SELECT
  r.workload,
  r.run_id,
  i.title,
  p.phase,
  CASE WHEN d.state <> '' THEN d.state ELSE t.mean_ms END AS mean_ms,
  CASE WHEN d.state = '' THEN t.std_ms END AS std_ms
FROM shown s
JOIN run r ON r.run_id = s.run_id
JOIN run_title i ON i.run_id = r.run_id
JOIN run_standing d ON d.run_id = r.run_id
JOIN (
  SELECT
    o.workload,
    x.phase,
    min(x.start_ns - w.start_ns) AS place_ns
  FROM shown y
  JOIN run o ON o.run_id = y.run_id
  JOIN sample x ON x.run_id = o.run_id AND x.phase <> 'step' AND x.pass = 'time' AND x.step = o.warmup
  JOIN sample w ON w.run_id = x.run_id AND w.rank = x.rank AND w.pass = x.pass AND w.step = x.step AND w.phase = 'step'
  GROUP BY o.workload, x.phase
  HAVING x.phase <> 'other' OR max(1.0 * x.host_ns / w.host_ns) >= 0.02
) p ON p.workload = r.workload
LEFT JOIN phase_time t ON t.run_id = r.run_id AND t.phase = p.phase
WHERE t.mean_ms IS NOT NULL OR d.state <> ''
ORDER BY r.workload, p.phase = 'other', p.place_ns, p.phase, r.run_id
