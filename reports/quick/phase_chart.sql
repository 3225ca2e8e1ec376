-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of each phase, mean and standard deviation:
-- empty: No workload here divides its step into phases.
SELECT r.workload, i.title, p.phase,
       CASE WHEN d.state <> '' THEN d.state ELSE t.mean_ms END AS mean_ms,
       CASE WHEN d.state = '' THEN t.std_ms END AS std_ms
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN run_title i ON i.run_id = r.run_id
JOIN run_standing d ON d.run_id = r.run_id
JOIN (SELECT o.workload, x.phase, min(x.start_ns) AS start_ns
      FROM selected_run y JOIN run o ON o.run_id = y.run_id JOIN sample x ON x.run_id = o.run_id
      WHERE x.phase <> 'step' AND x.pass = 'time' AND x.step = o.warmup
      GROUP BY o.workload, x.phase) p ON p.workload = r.workload
LEFT JOIN phase_time t ON t.run_id = r.run_id AND t.phase = p.phase
WHERE t.mean_ms IS NOT NULL OR d.state <> ''
ORDER BY r.workload, r.run_id, p.phase = 'other', p.start_ns
