-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory by category at the peak of a step.
-- pivot category: values=["bytes"], order="category_order"
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column precision: title="precision"
-- column mode: title="mode", format="code"
-- column run_id: hidden=true
-- column bytes: title="{}", format="bytes"
-- note: Parameters, gradients, optimizer state and inputs are tagged by the workload. Activations are allocated in the
--   forward pass and outlive their operator; workspace is allocated and freed within one operator. Copies of
--   weights that autocast caches count as activations: the records do not tell them from other casts.
-- empty: No memory records: `kymo suite run cs336 --filter '^memory'` adds this data.
SELECT
  m.size,
  m.context,
  m.precision,
  m.mode,
  m.run_id,
  c.title AS category,
  c.category_order,
  -- a category without memory in any row has no column
  CASE WHEN max(c.bytes) OVER (PARTITION BY c.category) > 0 THEN c.bytes END AS bytes
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'memory' AND m.status = 'ok'
JOIN memory_by_category c ON c.run_id = m.run_id AND c.rank = 0 AND c.phase = 'step' AND c.device = m.device_kind
ORDER BY m.size_order, m.size, m.context, m.precision, m.mode, m.run_id
