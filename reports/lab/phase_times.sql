-- SPDX-License-Identifier: Apache-2.0
-- Time of each phase of each variant, median over its runs.
SELECT
  l.position,
  l.label,
  p.phase,
  CASE p.phase
    WHEN 'data' THEN 0
    WHEN 'forward' THEN 1
    WHEN 'backward' THEN 2
    WHEN 'optimizer' THEN 3
    WHEN 'replay' THEN 4
    ELSE 5
  END AS phase_order,
  median(p.median_ms) AS ms
FROM labelled l
JOIN trained t ON t.variant = l.variant
JOIN phase_time p ON p.run_id = t.run_id AND p.phase <> 'step'
GROUP BY l.position, l.label, p.phase
