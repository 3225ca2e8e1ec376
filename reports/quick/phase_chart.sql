-- SPDX-License-Identifier: Apache-2.0
-- caption: Phase times, mean and standard deviation:
-- empty: No workload with phases has several runs to compare.
-- The number of bars is limited for readability; the prose states how many runs are omitted.
WITH shown AS (
  SELECT run_id
  FROM (
    SELECT
      y.run_id,
      row_number() OVER (PARTITION BY o.workload ORDER BY o.run_id) AS position,
      count(*) OVER (PARTITION BY o.workload) AS runs
    FROM selected_run y
    JOIN run o ON o.run_id = y.run_id
  )
  WHERE position <= 40 AND runs > 1
)
SELECT
  r.workload,
  r.run_id,
  i.title,
  p.phase,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE t.mean_ms END AS mean_ms,
  CASE WHEN d.status_label = '' THEN t.std_ms END AS std_ms
FROM shown s
JOIN run r ON r.run_id = s.run_id
JOIN selected_run i ON i.run_id = r.run_id
JOIN run_status d ON d.run_id = r.run_id
JOIN (
  SELECT
    o.workload,
    x.phase,
    min(x.start_ns - w.start_ns) AS offset_ns
  FROM shown y
  JOIN run o ON o.run_id = y.run_id
  JOIN step_time x ON x.run_id = o.run_id AND x.phase <> 'step' AND x.step = o.warmup
  JOIN step_time w ON w.run_id = x.run_id AND w.step = x.step AND w.phase = 'step'
  GROUP BY o.workload, x.phase
  HAVING x.phase <> 'other' OR max(x.host_ms / w.host_ms) >= 0.02
) p ON p.workload = r.workload
LEFT JOIN phase_time t ON t.run_id = r.run_id AND t.phase = p.phase
WHERE t.mean_ms IS NOT NULL OR d.status_label <> ''
ORDER BY r.workload, p.phase = 'other', p.offset_ns, p.phase, r.run_id
