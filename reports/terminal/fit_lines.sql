-- SPDX-License-Identifier: Apache-2.0
-- What the table does not say.
SELECT l.line
FROM (
  SELECT
    0 AS position,
    sum(m.predicted_bytes <= CAST(:memory AS INTEGER)) || ' of ' || count(*) || ' choices fit into '
    || printf('%.4g GiB', CAST(:memory AS INTEGER) / 1073741824.0) AS line
  FROM memory_prediction m
  UNION ALL
  SELECT
    1,
    CASE
      WHEN json_array_length(:peaks) = 0
        THEN 'no times of steps: the database has no peak rates of such a device; ''kymo peaks'' measures them'
      WHEN n.missing IS NOT NULL
        THEN 'no times of steps of ' || n.missing || ': the database has no peak rate of its matrix products'
      ELSE
        'times: the declared work, and what checkpoints compute again, at the peak rates of '
        || json_extract(:peaks, '$[0].device') || '; without communication'
    END
  FROM (
    SELECT group_concat(DISTINCT w.product_type) AS missing
    FROM predicted_work w
    WHERE
      w.flops > 0
      AND w.product_type NOT IN (
        SELECT k.value ->> 'dtype'
        FROM json_each(:peaks) k
        WHERE k.value ->> 'kind' = 'matmul'
      )
  ) n
) l
ORDER BY l.position
