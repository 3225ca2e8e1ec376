-- SPDX-License-Identifier: Apache-2.0
-- For each mode, the longest context of the largest size that did not run out of memory.
SELECT
  run_id,
  device_kind,
  start_ns,
  end_ns,
  setting
FROM (
  SELECT
    m.run_id,
    m.device_kind,
    y.start_ns,
    y.end_ns,
    m.size || ', context ' || m.context || ', ' || m.precision || ', ' || m.mode AS setting,
    m.mode,
    row_number() OVER (
      PARTITION BY m.mode
      ORDER BY m.size_order DESC, m.context DESC, m.precision = 'fp32' DESC, m.run_id DESC
    ) AS position
  FROM selected_run s
  JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'memory' AND m.status = 'ok'
  JOIN memory_steps y ON y.run_id = m.run_id AND y.rank = 0
  WHERE EXISTS (SELECT 1 FROM memory_block b WHERE b.run_id = m.run_id AND b.rank = 0 AND b.pass = 'memory')
)
WHERE position = 1 AND mode IN ('forward', 'train')
