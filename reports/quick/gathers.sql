-- SPDX-License-Identifier: Apache-2.0
-- caption: All-gathers of weights, by the phase that needs them: do they arrive in time?
-- column run: title="run", once=true
-- column phase: title="phase", format="code"
-- column gathers: title="gathers per step", format="significant", digits=3
-- column late: title="late", unit="%", digits=0
-- column waited_ms: title="waited per step", unit="ms", format="significant", digits=3
-- column layer: title="latest layer", format="code"
-- column verdict: title="verdict"
-- note: A gather is late if it ends after its layer needs the weights, by the time for which the layer waits: the
--   greatest of any rank, median over steps. A step waits for the sum of the layers. The verdict is that of the latest.
-- empty: No weights were gathered: `kymo suite run quick` adds this data.
SELECT
  coalesce(p.strategy || ' (' || p.setting || ')', r.workload || ', ' || s.title) AS run,
  g.phase,
  sum(g.calls) AS gathers,
  100.0 * sum(g.late_share * g.calls) / sum(g.calls) AS late,
  sum(max(g.late_us, 0.0)) / 1e3 AS waited_ms,
  max(CASE g.position WHEN 1 THEN nullif(g.layer, '') END) AS layer,
  CASE
    WHEN max(g.late_us) <= 0 THEN 'in time'
    ELSE 'late by ' || printf('%.3g', max(g.late_us) / 1e3) || ' ms'
  END AS verdict
FROM (
  SELECT
    l.*,
    row_number() OVER (PARTITION BY l.run_id, l.pass, l.phase ORDER BY l.late_us DESC, l.layer_order) AS position
  FROM gather_lateness l
) g
JOIN selected_run s ON s.run_id = g.run_id
JOIN run r ON r.run_id = g.run_id
LEFT JOIN ddp_run p ON p.run_id = g.run_id
WHERE g.pass = (SELECT max(o.pass) FROM gather_lateness o WHERE o.run_id = g.run_id)
GROUP BY g.run_id, g.phase
ORDER BY g.run_id, g.phase = 'backward'
