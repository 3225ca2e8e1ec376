-- SPDX-License-Identifier: Apache-2.0
-- Phase bands for memory_area.sql.
WITH chosen AS (
  SELECT
    run_id,
    device_kind,
    setting
  FROM (
    SELECT
      r.run_id,
      r.device_kind,
      m.size || ', context ' || m.context || ', ' || m.precision || ', ' || m.mode AS setting,
      m.mode,
      row_number() OVER (
        PARTITION BY m.mode
        ORDER BY m.size_order DESC, m.context DESC, m.precision = 'fp32' DESC, r.run_id DESC
      ) AS position
    FROM selected_run s
    JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336' AND r.suite_case = 'memory' AND r.status = 'ok'
    JOIN transformer_run m ON m.run_id = r.run_id
    WHERE
      EXISTS (
        SELECT 1
        FROM memory_point p
        WHERE p.run_id = r.run_id AND p.rank = 0 AND p.pass = 'memory' AND p.step >= 0
      )
  )
  WHERE position = 1 AND mode IN ('forward', 'train')
),
-- the measured steps
shown AS (
  SELECT
    c.*,
    min(x.start_ns) AS begin_ns,
    max(x.start_ns + x.host_ns) AS end_ns
  FROM chosen c
  JOIN sample x ON x.run_id = c.run_id AND x.rank = 0 AND x.pass = 'memory' AND x.phase = 'step' AND x.warmup = 0
  GROUP BY c.run_id
)
SELECT
  n.setting,
  p.text AS label,
  g.start_ns AS start,
  g.end_ns AS "end"
FROM shown n
JOIN "range" g
  ON g.run_id = n.run_id
  AND g.rank = 0
  AND g.pass = 'memory'
  AND g.kind = 'phase'
  AND g.start_ns BETWEEN n.begin_ns AND n.end_ns
JOIN string p ON p.string_id = g.name_id
ORDER BY n.run_id, g.start_ns
