-- SPDX-License-Identifier: Apache-2.0
-- caption: Activations that autograd keeps for the backward pass, and the gradients that it produces, by module.
-- column graph: title="graph"
-- column module: title="module", format="code"
-- column instances: title="modules", format="plain"
-- column tensors: title="tensors", format="plain"
-- column bytes_per_instance: title="kept by one", format="bytes"
-- column share: title="of all activations kept", unit="%", digits=1
-- column gradient_bytes: title="gradients of one", format="bytes"
-- note: A module includes the modules within it. The graph of a checkpoint is the largest that is computed again and
--   differentiated within the backward pass.
-- empty: No saved tensors: `--passes memory` records them in steps with a backward pass.
SELECT
  CASE m.nested WHEN 1 THEN 'checkpoint' ELSE 'step' END AS graph,
  m.module,
  m.instances,
  m.tensors,
  m.bytes_per_instance,
  100.0 * m.share AS share,
  CASE m.nested WHEN 0 THEN m.gradient_bytes_per_instance END AS gradient_bytes
FROM saved_by_module m
WHERE m.run_id = (SELECT run_id FROM chosen) AND m.rank = 0 AND (m.bytes > 0 OR m.gradient_bytes_per_instance > 0)
ORDER BY m.nested, m.bytes DESC, m.module
LIMIT 20
