-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory that autograd keeps for the backward pass.
-- column workload: title="workload", format="code"
-- column title: title="run"
-- column activation_bytes: title="activations", format="bytes"
-- column growth_bytes: title="growth of memory in forward", format="bytes"
-- column nested_bytes: title="activations of a checkpoint", format="bytes"
-- column largest: title="largest", format="code"
-- column largest_share: title="its share", unit="%", digits=1
-- column module: title="in module", format="code"
-- note: Memory that tensors share is counted once. The growth includes what the workload itself keeps. A checkpoint is
--   computed again, and differentiated, within the backward pass; the largest one counts.
-- empty: No saved tensors: add `--passes time,memory` to the command.
SELECT
  r.workload,
  s.title,
  m.activation_bytes,
  m.growth_bytes,
  n.activation_bytes AS nested_bytes,
  o.operator AS largest,
  100.0 * o.share AS largest_share,
  o.module
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN saved_memory m ON m.run_id = r.run_id AND m.rank = 0 AND m.pass = 'memory' AND m.nested = 0
LEFT JOIN saved_memory n ON n.run_id = r.run_id AND n.rank = 0 AND n.pass = 'memory' AND n.nested = 1
LEFT JOIN (
  SELECT
    run_id,
    operator,
    module,
    sum(share) AS share,
    row_number() OVER (PARTITION BY run_id ORDER BY sum(bytes) DESC, operator, module) AS position
  FROM saved_by_operator
  WHERE rank = 0 AND pass = 'memory' AND nested = 0 AND memory = 'activation'
  GROUP BY run_id, operator, module
) o
  ON o.run_id = r.run_id AND o.position = 1
ORDER BY r.run_id
