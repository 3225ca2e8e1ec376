-- SPDX-License-Identifier: Apache-2.0
-- caption: The gathers that arrive last, by layer.
-- column run: title="run", once=true
-- column phase: title="phase", format="code"
-- column layer: title="layer", format="code"
-- column bytes: title="size", format="bytes"
-- column ahead_ms: title="begun ahead", unit="ms", format="significant", digits=3
-- column duration_ms: title="duration", unit="ms", format="significant", digits=3
-- column late_ms: title="late by", unit="ms", format="significant", digits=3
-- column verdict: title="verdict"
-- note: Begun ahead: from the call until the layer needed the weights. Late by: from then until the gather ended,
--   median; negative if it ended before. The 12 greatest values of each run, in the order of the step.
-- empty: No weights were gathered.
SELECT
  coalesce(p.strategy || ' (' || p.setting || ')', r.workload || ', ' || s.title) AS run,
  g.phase,
  coalesce(nullif(g.layer, ''), '–') AS layer,
  g.bytes,
  g.ahead_us / 1e3 AS ahead_ms,
  g.duration_us / 1e3 AS duration_ms,
  g.late_us / 1e3 AS late_ms,
  g.verdict
FROM (
  SELECT
    l.*,
    row_number() OVER (PARTITION BY l.run_id, l.pass ORDER BY l.late_us DESC, l.layer_order) AS position
  FROM gather_lateness l
) g
JOIN selected_run s ON s.run_id = g.run_id
JOIN run r ON r.run_id = g.run_id
LEFT JOIN ddp_run p ON p.run_id = g.run_id
WHERE g.position <= 12 AND g.pass = (SELECT max(o.pass) FROM gather_lateness o WHERE o.run_id = g.run_id)
ORDER BY g.run_id, g.layer_order
