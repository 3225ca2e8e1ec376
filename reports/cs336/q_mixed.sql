-- SPDX-License-Identifier: Apache-2.0
-- caption: Forward and backward in fp32 and under bf16 autocast.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column phase: title="phase", format="code"
-- column fp32_ms: title="fp32", unit="ms", format="measured", plus_minus="fp32_std_ms"
-- column mixed_ms: title="bf16 autocast", unit="ms", format="measured", plus_minus="mixed_std_ms"
-- column speedup: title="speedup", format="significant", digits=3
-- column verdict: title="difference"
-- note: Speedup: ratio of the means. Outside the noise: as defined in section At a glance.
-- empty: Not in this database: `kymo suite run cs336 --filter '^timing(-autocast)?$'` adds this data.
WITH timed AS (
  SELECT
    m.suite_case,
    m.run_id,
    m.size,
    m.size_order,
    m.context,
    p.value AS phase,
    p.key AS phase_order,
    d.status_label,
    t.mean_ms,
    t.std_ms,
    t.low,
    t.high
  FROM selected_run s
  JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case IN ('timing', 'timing-autocast')
  JOIN json_each('["forward", "backward"]') p
  JOIN run_status d ON d.run_id = m.run_id
  LEFT JOIN phase_noise t ON t.run_id = m.run_id AND t.phase = p.value
)
SELECT
  f.size,
  f.context,
  f.phase,
  CASE WHEN f.status_label <> '' THEN f.status_label ELSE f.mean_ms END AS fp32_ms,
  f.std_ms AS fp32_std_ms,
  CASE WHEN a.status_label <> '' THEN a.status_label ELSE a.mean_ms END AS mixed_ms,
  a.std_ms AS mixed_std_ms,
  f.mean_ms / nullif(a.mean_ms, 0) AS speedup,
  CASE
    WHEN f.high < a.low OR a.high < f.low THEN 'outside the noise'
    WHEN f.low IS NOT NULL AND a.low IS NOT NULL THEN 'within the noise'
  END AS verdict
FROM timed f
JOIN timed a
  ON a.size = f.size
  AND a.context = f.context
  AND a.phase = f.phase
  AND a.suite_case = 'timing-autocast'
  AND f.suite_case = 'timing'
ORDER BY f.size_order, f.size, f.context, f.phase_order, f.run_id, a.run_id
