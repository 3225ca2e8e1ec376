-- SPDX-License-Identifier: Apache-2.0
-- The kernels of the runs in `traced` by name, per step on rank 0: those with the longest time first.
WITH named AS (
  SELECT
    t.run_id,
    e.name_id,
    e.short_name,
    e.class,
    1.0 * sum(e.calls) / max(e.steps) AS calls,
    sum(e.total_ns) / 1e3 / sum(e.calls) AS mean_us,
    sum(e.total_ns) / 1e6 / max(e.steps) AS total_ms
  FROM traced t
  CROSS JOIN kernel_entry e ON e.run_id = t.run_id AND e.rank = 0
  GROUP BY t.run_id, e.name_id
)
SELECT
  run_id,
  CASE WHEN length(short_name) > 64 THEN substr(short_name, 1, 63) || '…' ELSE short_name END AS kernel,
  class,
  CASE WHEN calls = CAST(calls AS INTEGER) THEN CAST(calls AS INTEGER) ELSE calls END AS calls,
  mean_us,
  total_ms,
  row_number() OVER (PARTITION BY run_id ORDER BY total_ms DESC, name_id) AS position,
  100 * total_ms / nullif(sum(total_ms) OVER (PARTITION BY run_id), 0) AS share
FROM named
