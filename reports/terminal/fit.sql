-- SPDX-License-Identifier: Apache-2.0
-- The choices, those that fit first, and of these the fastest first, or those with the most tokens.
-- column choice: spread=true
-- column ranks: optional=true
-- column predicted_bytes: title="predicted peak", format="bytes"
-- column fits: title="fits"
-- column step_ms: title="step", unit="ms", format="significant", digits=3, optional=true
-- column tokens_per_s: title="tokens/s", format="significant", digits=3, optional=true
SELECT
  c.choice,
  c.ranks,
  c.predicted_bytes,
  CASE WHEN c.fits THEN 'yes' ELSE 'no' END AS fits,
  c.step_ms,
  1e3 * c.tokens / c.step_ms AS tokens_per_s
FROM (
  SELECT
    r.run_id,
    m.predicted_bytes,
    m.predicted_bytes <= CAST(:memory AS INTEGER) AS fits,
    (
      SELECT json_group_object(p.name, p.value)
      FROM (
        SELECT
          q.name,
          q.value
        FROM run_parameter q
        WHERE q.run_id = r.run_id AND (SELECT count(DISTINCT o.value) FROM run_parameter o WHERE o.name = q.name) > 1
        ORDER BY q.position
      ) p
    ) AS choice,
    CASE WHEN (SELECT count(DISTINCT o.ranks) FROM run o) > 1 THEN r.ranks END AS ranks,
    (
      SELECT max(t.value) * r.ranks
      FROM reported_metric t
      WHERE t.run_id = r.run_id AND t.name = 'tokens_per_step'
    ) AS tokens,
    (
      SELECT CASE WHEN count(e.ms) = count(*) THEN sum(e.ms) END
      FROM (
        SELECT
          1e3 * max(
            CASE
              WHEN w.flops > 0
                THEN w.flops / (
                  SELECT max(k.value ->> 'rate')
                  FROM json_each(:peaks) k
                  WHERE k.value ->> 'kind' = 'matmul' AND k.value ->> 'dtype' = w.product_type
                )
              ELSE 0
            END,
            CASE
              WHEN w.bytes > 0
                THEN w.bytes / (
                  SELECT max(k.value ->> 'rate')
                  FROM json_each(:peaks) k
                  WHERE k.value ->> 'kind' IN ('copy', 'read')
                )
              ELSE 0
            END
          ) AS ms
        FROM predicted_work w
        WHERE w.run_id = r.run_id
      ) e
    ) AS step_ms
  FROM run r
  JOIN memory_prediction m ON m.run_id = r.run_id AND m.rank = 0
) c
ORDER BY c.fits DESC, c.step_ms / c.tokens, c.tokens DESC, c.predicted_bytes
