-- SPDX-License-Identifier: Apache-2.0
-- caption: Peak memory of a step by context, precision and mode.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column precision: title="precision"
-- column mode: title="mode", format="code"
-- column allocated: title="allocated", format="bytes"
-- column reserved: title="reserved", format="bytes"
-- column requested: title="requested", format="bytes"
-- column phase: title="peak phase", format="code"
-- column largest: title="largest category"
-- column largest_share: title="share of peak", unit="%", digits=1
-- column stream: title="residual stream", format="bytes"
-- note: Allocated, requested and reserved memory of the caching allocator: maximum of each over the measured steps.
-- note: Residual stream: one activation of shape batch × context × d_model, in the dtype of the weights.
-- empty: No memory records: `kymo suite run cs336 --filter '^memory'` adds this data.
WITH chosen AS (
  SELECT m.*
  FROM selected_run s
  JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'memory'
),
high AS (
  SELECT
    p.run_id,
    p.phase,
    row_number() OVER (PARTITION BY p.run_id ORDER BY p.peak_allocated_bytes DESC, p.peak_ns) AS position
  FROM chosen c
  JOIN memory_peak p ON p.run_id = c.run_id AND p.rank = 0 AND p.device = c.device_kind
  WHERE p.phase NOT IN ('step', 'run', 'warm-up', 'outside')
)
SELECT
  c.size,
  c.context,
  c.precision,
  c.mode,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE p.peak_allocated_bytes END AS allocated,
  CASE d.status_label WHEN '' THEN p.peak_reserved_bytes END AS reserved,
  CASE d.status_label WHEN '' THEN p.peak_requested_bytes END AS requested,
  CASE d.status_label WHEN '' THEN h.phase END AS phase,
  CASE d.status_label WHEN '' THEN replace(p.largest_category, '_', ' ') END AS largest,
  CASE d.status_label
    WHEN '' THEN 100.0 * p.largest_category_bytes / nullif(p.peak_allocated_bytes, 0)
  END AS largest_share,
  (
    SELECT x.value
    FROM reported_metric x
    WHERE x.run_id = c.run_id AND x.rank = 0 AND x.name = 'residual_stream_bytes'
    LIMIT 1
  ) AS stream
FROM chosen c
JOIN run_status d ON d.run_id = c.run_id
LEFT JOIN memory_peak p ON p.run_id = c.run_id AND p.rank = 0 AND p.phase = 'step' AND p.device = c.device_kind
LEFT JOIN high h ON h.run_id = c.run_id AND h.position = 1
WHERE p.run_id IS NOT NULL OR d.status_label <> ''
ORDER BY c.size_order, c.size, c.context, c.precision, c.mode, c.run_id
