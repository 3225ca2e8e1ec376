-- SPDX-License-Identifier: Apache-2.0
-- The run whose allocations are shown, preferably of inference in fp32, and the last step of its memory pass.
SELECT
  n.*,
  (
    SELECT max(l.step)
    FROM memory_block l
    WHERE l.run_id = n.run_id AND l.rank = 0 AND l.pass = 'memory' AND l.phase = 'forward'
  ) AS step
FROM (
  SELECT
    m.run_id,
    m.device_kind,
    m.size || ', context ' || m.context || ', ' || m.precision AS setting
  FROM selected_run s
  JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'memory' AND m.status = 'ok'
  WHERE EXISTS (SELECT 1 FROM memory_block a WHERE a.run_id = m.run_id AND a.rank = 0 AND a.pass = 'memory')
  ORDER BY m.mode = 'forward' DESC, m.precision = 'fp32' DESC, m.size_order DESC, m.context DESC, m.run_id DESC
  LIMIT 1
) n
