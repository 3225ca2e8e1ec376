-- SPDX-License-Identifier: Apache-2.0
-- What the table does not say.
SELECT l.line
FROM (
  SELECT
    0 AS position,
    sum(coalesce(m.predicted_bytes <= CAST(:memory AS INTEGER), 0)) || ' of ' || count(*) || ' choices fit into '
    || :memory_text || CASE
      WHEN count(m.run_id) < count(*) THEN '; ' || (count(*) - count(m.run_id)) || ' could not be predicted'
      ELSE ''
    END AS line
  FROM run r
  LEFT JOIN memory_prediction m ON m.run_id = r.run_id AND m.rank = 0
  UNION ALL
  SELECT
    1,
    CASE
      WHEN json_array_length(:peaks) = 0
        THEN 'no times of steps: the database has no peak rates of such a device; ''kymo peaks'' measures them'
      WHEN w.count = 0 THEN 'no times of steps: the workload declares no work'
      WHEN w.untyped > 0
        THEN
          'no times of steps: the type of the matrix products is unknown, because the workload has no parameter dtype'
      WHEN w.missing IS NOT NULL
        THEN 'no times of steps with ' || w.missing || ': the database has no peak rate of these'
      ELSE
        'times: the declared work, and what checkpoints compute again, at the peak rates of '
        || json_extract(:peaks, '$[0].device') || '; without communication'
    END
  FROM (
    SELECT
      count(*) AS count,
      sum(p.flops > 0 AND p.product_type IS NULL) AS untyped,
      group_concat(DISTINCT p.missing) AS missing
    FROM (
      SELECT
        flops,
        product_type,
        CASE
          WHEN flops > 0 AND product_type NOT IN (
            SELECT k.value ->> 'dtype'
            FROM json_each(:peaks) k
            WHERE k.value ->> 'kind' = 'matmul'
          ) THEN 'matrix products in ' || product_type
          WHEN bytes > 0 AND NOT EXISTS (
            SELECT 1
            FROM json_each(:peaks) k
            WHERE k.value ->> 'kind' IN ('copy', 'read')
          ) THEN 'copies'
        END AS missing
      FROM predicted_work
    ) p
  ) w
) l
ORDER BY l.position
