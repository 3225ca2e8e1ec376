-- SPDX-License-Identifier: Apache-2.0
-- The runs of the case kernels that were traced: of each model one, preferably in inference.
SELECT *
FROM (
  SELECT
    m.*,
    row_number()
      OVER (PARTITION BY m.size, m.context, m.precision ORDER BY m.mode <> 'forward', m.run_id DESC)
      AS position
  FROM selected_run s
  JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'kernels'
  WHERE EXISTS (SELECT 1 FROM rank k WHERE k.run_id = m.run_id AND k.pass IN ('trace', 'ops'))
)
WHERE position = 1
