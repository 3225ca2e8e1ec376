-- SPDX-License-Identifier: Apache-2.0
-- What the prediction rests on.
SELECT
  CASE
    WHEN count(*) = 0 THEN 'none of the runs has a memory pass: measure a small step with --passes memory'
    WHEN count(DISTINCT g.value ->> 'batch') > 1
      THEN
        'along the line through the peaks measured with batch ' || min(g.value ->> 'batch') || ' and '
        || max(g.value ->> 'batch')
    ELSE
      'from one batch: everything but parameters, gradients and optimizer state grows with it; a run with another '
      || 'batch measures the growth'
  END AS line
FROM json_each(:runs) g
JOIN memory_scaling s ON s.run_id = g.value ->> 'run' AND s.rank = 0
