-- SPDX-License-Identifier: Apache-2.0
-- The runs of a table that fits on a page: all, or, if there are many shapes, those with a causal mask, one head, every
-- other length from the longest on, and the two head dimensions with the most lengths.
WITH run_of_shape AS (
  SELECT
    s.run_id,
    a.dtype,
    a.causal,
    a.head_dim,
    a.batch,
    a.heads,
    a.seq
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite_case LIKE 'flash%'
  JOIN attention_run a ON a.run_id = r.run_id
),

many AS (
  SELECT count(*) > 24 AS are_many
  FROM (SELECT DISTINCT
    dtype,
    causal,
    head_dim,
    batch,
    heads,
    seq
  FROM run_of_shape)
),

lengths AS (
  SELECT
    seq,
    row_number() OVER (ORDER BY seq DESC) AS position
  FROM (SELECT DISTINCT seq FROM run_of_shape)
),

dimensions AS (
  SELECT head_dim
  FROM run_of_shape
  GROUP BY head_dim
  ORDER BY count(DISTINCT seq) DESC, head_dim DESC
  LIMIT 2
)

SELECT f.run_id
FROM run_of_shape f
JOIN lengths l ON l.seq = f.seq
CROSS JOIN many m
WHERE
  NOT m.are_many
  OR (f.causal = 1 AND f.heads = 1 AND l.position % 2 = 1 AND f.head_dim IN (SELECT head_dim FROM dimensions))
