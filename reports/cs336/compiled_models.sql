-- SPDX-License-Identifier: Apache-2.0
-- caption: The whole model: in PyTorch, eager and compiled, and in C++, eager and as a CUDA graph.
-- column setting: title="model"
-- column mode: title="mode", format="code"
-- column implementation: title="implementation"
-- column forward_ms: title="forward", unit="ms", format="measured", plus_minus="forward_std_ms"
-- column backward_ms: title="backward", unit="ms", format="measured", plus_minus="backward_std_ms"
-- column optimizer_ms: title="optimizer", unit="ms", format="measured", plus_minus="optimizer_std_ms"
-- column step_ms: title="whole step", unit="ms", format="measured", plus_minus="step_std_ms"
-- column speedup: title="speedup over eager", format="significant", digits=3
-- column compile_s: title="compile time", unit="s", format="significant", digits=3
-- column breaks: title="graph breaks"
-- column recompilations: title="recompilations"
-- note: Speedup: eager step time of the same workload over that of the row. Compile time: the first calls, beyond the
--   time of later ones. The optimizer is not compiled. A CUDA graph has no phases. The small model is verified in runs
--   of its own: see section Implementations.
-- empty: No compiled models: `kymo suite run cs336 --filter '^compiled-model'` adds this data.
WITH shown AS (
  SELECT
    m.run_id,
    m.size,
    m.size_order,
    m.context,
    m.precision,
    m.mode,
    x.title AS implementation,
    x.family_order,
    p.choice AS variant_order,
    d.status_label,
    t.mean_ms AS step_ms,
    t.std_ms AS step_std_ms,
    min(CASE WHEN p.choice = 0 AND d.status_label = '' THEN t.mean_ms END) OVER (
      PARTITION BY m.workload, m.device_kind, m.size, m.context, m.batch, m.precision, m.mode
    ) AS eager_ms
  FROM selected_run s
  JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case LIKE 'compiled-model%'
  JOIN run_series x ON x.run_id = m.run_id
  JOIN run_status d ON d.run_id = m.run_id
  JOIN run_parameter p ON p.run_id = m.run_id AND p.name IN ('compile', 'execution')
  LEFT JOIN phase_time t ON t.run_id = m.run_id AND t.phase = 'step'
)
SELECT
  h.size || ', context ' || h.context || ', ' || h.precision AS setting,
  h.mode,
  h.implementation,
  CASE WHEN h.status_label <> '' THEN h.status_label ELSE f.mean_ms END AS forward_ms,
  f.std_ms AS forward_std_ms,
  CASE WHEN h.status_label = '' THEN b.mean_ms END AS backward_ms,
  b.std_ms AS backward_std_ms,
  CASE WHEN h.status_label = '' THEN o.mean_ms END AS optimizer_ms,
  o.std_ms AS optimizer_std_ms,
  CASE WHEN h.status_label <> '' THEN h.status_label ELSE h.step_ms END AS step_ms,
  h.step_std_ms,
  CASE WHEN h.variant_order > 0 AND h.status_label = '' THEN h.eager_ms / h.step_ms END AS speedup,
  max(CASE k.name WHEN 'compile_s' THEN k.value END) AS compile_s,
  CAST(max(CASE k.name WHEN 'graph_breaks' THEN k.value END) AS INTEGER) AS breaks,
  CAST(max(CASE k.name WHEN 'recompilations' THEN k.value END) AS INTEGER) AS recompilations
FROM shown h
LEFT JOIN phase_time f ON f.run_id = h.run_id AND f.phase = 'forward'
LEFT JOIN phase_time b ON b.run_id = h.run_id AND b.phase = 'backward'
LEFT JOIN phase_time o ON o.run_id = h.run_id AND o.phase = 'optimizer'
LEFT JOIN reported_metric k ON k.run_id = h.run_id AND k.level = 'run' AND k.pass = 'time'
GROUP BY h.run_id
ORDER BY
  h.size_order, h.size, h.context, h.precision, h.mode = 'forward', h.mode, h.family_order, h.variant_order, h.run_id
