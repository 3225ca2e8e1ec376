-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time by optimisation, by phase.
-- empty: No runs.
SELECT
  l.label,
  p.phase,
  median(p.median_ms) AS ms
FROM labelled l
JOIN trained t ON t.variant = l.variant
JOIN phase_time p ON p.run_id = t.run_id AND p.phase <> 'step'
GROUP BY l.position, l.label, p.phase
ORDER BY
  CASE p.phase
    WHEN 'data' THEN 0
    WHEN 'forward' THEN 1
    WHEN 'backward' THEN 2
    WHEN 'optimizer' THEN 3
    WHEN 'replay' THEN 4
    ELSE 5
  END,
  l.position
