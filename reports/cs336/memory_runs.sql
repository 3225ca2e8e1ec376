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
    r.run_id,
    r.device_kind,
    y.start_ns,
    y.end_ns,
    m.size || ', context ' || m.context || ', ' || m.precision || ', ' || m.mode AS setting,
    m.mode,
    row_number() OVER (
      PARTITION BY m.mode
      ORDER BY m.size_order DESC, m.context DESC, m.precision = 'fp32' DESC, r.run_id DESC
    ) AS position
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite_case = 'memory' AND r.status = 'ok'
  JOIN transformer_run m ON m.run_id = r.run_id
  JOIN memory_steps y ON y.run_id = r.run_id AND y.rank = 0
  WHERE EXISTS (SELECT 1 FROM memory_block b WHERE b.run_id = r.run_id AND b.rank = 0 AND b.pass = 'memory')
)
WHERE position = 1 AND mode IN ('forward', 'train')
