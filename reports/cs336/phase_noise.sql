-- SPDX-License-Identifier: Apache-2.0
-- The times of the selected runs with intervals for comparisons between runs: the confidence interval of the median,
-- which the steps of one process give, widened by how much processes differ. That is the spread of the runs of the same
-- case, or otherwise the median of all such spreads.
SELECT
  t.run_id,
  t.phase,
  t.mean_ms,
  t.std_ms,
  t.median_ms,
  t.median_low_ms * (1 - coalesce(c.spread, a.spread, 0) / 2) AS low,
  t.median_high_ms * (1 + coalesce(c.spread, a.spread, 0) / 2) AS high
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN phase_time t ON t.run_id = s.run_id
JOIN (SELECT median(spread) AS spread FROM repeated_case) a
LEFT JOIN rank k ON k.run_id = s.run_id AND k.rank = 0 AND k.pass = 'time'
LEFT JOIN device d ON d.device_id = k.device_id
LEFT JOIN repeated_case c ON c.case_key = r.case_key AND c.device = d.name
