-- SPDX-License-Identifier: Apache-2.0
-- The share of a step in which the GPU is busy, from a traced run of the same case, and whether that is less
-- than 80 %.
SELECT
  r.run_id,
  max(1 - g.idle_share) AS share,
  max(1 - g.idle_share) < 0.8 AS is_low
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN run o ON o.case_key = r.case_key AND o.run_id IN (SELECT run_id FROM selected_run)
JOIN launch_gap g ON g.run_id = o.run_id AND g.rank = 0 AND g.phase = 'step'
GROUP BY r.run_id
