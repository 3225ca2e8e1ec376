-- SPDX-License-Identifier: Apache-2.0
-- caption: Peak of the allocated memory by phase, on both sides.
-- column title: title="case", once=true
-- column phase: title="phase", format="code"
-- column before_bytes: title="before", format="bytes"
-- column after_bytes: title="after", format="bytes"
-- column difference_bytes: title="difference", format="bytes"
-- column largest: title="largest category after"
-- note: `step` is the whole step, `run` the whole pass. Largest of the ranks and of the runs on each side.
-- empty: No case has memory records on both sides: add `--passes time,memory` to both runs.
WITH side AS (
  SELECT
    c.case_id,
    m.device,
    m.phase,
    max(CASE c.is_after WHEN 0 THEN m.peak_allocated_bytes END) AS before_bytes,
    max(CASE c.is_after WHEN 1 THEN m.peak_allocated_bytes END) AS after_bytes,
    max(CASE c.is_after WHEN 1 THEN m.largest_category END) AS largest
  FROM compared_run c
  JOIN run r ON r.run_id = c.run_id
  JOIN memory_peak m ON m.run_id = c.run_id AND m.device = r.device_kind
  GROUP BY c.case_id, m.device, m.phase
)
SELECT
  c.title,
  s.phase,
  s.before_bytes,
  s.after_bytes,
  s.after_bytes - s.before_bytes AS difference_bytes,
  s.largest
FROM side s
JOIN compared_case c ON c.case_id = s.case_id
WHERE s.before_bytes IS NOT NULL AND s.after_bytes IS NOT NULL
ORDER BY c.case_id, s.phase <> 'run', s.phase <> 'step', s.phase
