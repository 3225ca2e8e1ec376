-- SPDX-License-Identifier: Apache-2.0
-- The share of a step in which the GPU is busy, from a traced run of the same case.
SELECT
  r.run_id,
  max(1 - g.idle_share) AS share
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN run o ON o.case_key = r.case_key AND o.run_id IN (SELECT run_id FROM selected_run)
JOIN launch_gap g ON g.run_id = o.run_id AND g.rank = 0 AND g.phase = 'step'
GROUP BY r.run_id
