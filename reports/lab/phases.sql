-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of each phase by optimisation.
-- pivot phase: values=["ms"], order="phase_order"
-- column label: title="variant"
-- column position: hidden=true
-- column ms: title="{}", unit="ms", format="significant", digits=3
-- note: Medians over the runs of their medians, which need not add up to the step. Data prepares a batch; other is
--   outside the phases and includes reading the loss.
-- empty: No runs.
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
ORDER BY l.position, phase_order
