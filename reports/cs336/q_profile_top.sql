-- SPDX-License-Identifier: Apache-2.0
-- caption: Kernel with the most cumulative time, in forward and in forward plus backward.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column kernel: title="first in forward", format="code"
-- column calls: title="calls per forward", format="plain"
-- column ms: title="per forward", unit="ms", format="significant", digits=3
-- column share: title="share of forward", unit="%", digits=1
-- column both: title="first in forward and backward", format="code"
-- column both_share: title="share of both", unit="%", digits=1
-- column same: title="same"
-- note: Phases of the training step. On a CPU, operators by self time take the place of kernels.
-- empty: Not in this database: `kymo suite run cs336 --filter '^kernels'` adds this data.
WITH named AS (
  SELECT
    run_id,
    name,
    sum(CASE phase WHEN 'forward' THEN calls ELSE 0 END) AS calls,
    sum(CASE phase WHEN 'forward' THEN ms ELSE 0 END) AS forward_ms,
    sum(ms) AS both_ms
  FROM profiled
  WHERE phase IN ('forward', 'backward')
  GROUP BY run_id, name
),
ranked AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY run_id ORDER BY forward_ms DESC, name) AS in_forward,
    row_number() OVER (PARTITION BY run_id ORDER BY both_ms DESC, name) AS in_both,
    sum(forward_ms) OVER (PARTITION BY run_id) AS all_forward_ms,
    sum(both_ms) OVER (PARTITION BY run_id) AS all_both_ms
  FROM named
)
SELECT
  t.size,
  t.context,
  CASE WHEN length(f.name) > 64 THEN substr(f.name, 1, 63) || '…' ELSE f.name END AS kernel,
  CAST(round(f.calls) AS INTEGER) AS calls,
  CASE WHEN t.status_label <> '' THEN t.status_label ELSE f.forward_ms END AS ms,
  100 * f.forward_ms / nullif(f.all_forward_ms, 0) AS share,
  CASE WHEN length(b.name) > 64 THEN substr(b.name, 1, 63) || '…' ELSE b.name END AS both,
  100 * b.both_ms / nullif(b.all_both_ms, 0) AS both_share,
  CASE WHEN f.name = b.name THEN 'yes' WHEN f.name <> b.name THEN 'no' END AS same
FROM listed t
LEFT JOIN ranked f ON f.run_id = t.run_id AND f.in_forward = 1
LEFT JOIN ranked b ON b.run_id = t.run_id AND b.in_both = 1
WHERE f.run_id IS NOT NULL OR t.status_label <> ''
ORDER BY t.size_order, t.size, t.context, t.run_id
