-- SPDX-License-Identifier: Apache-2.0
-- caption: Self-checks.
-- column kind: title="check"
-- column limit_text: title="fails if"
-- column runs: title="checked runs", format="plain"
-- column failed: title="failed", format="plain"
-- column detail: title="numbers of the first that failed"
-- note: Repeated case: the runs of one case in several cases of the suite, with two or more warm-up steps, on equal
--   devices. A check without runs has no data.
-- empty: No runs are selected.
WITH checked AS (
  SELECT
    1 AS position,
    'repeated case' AS kind,
    'medians differ by more than 10 % and their intervals do not overlap' AS limit_text,
    coalesce(sum(runs), 0) AS runs
  FROM repeated_case
  UNION ALL
  SELECT
    2,
    'phases of a step',
    'they differ from the step by more than 10 % and 50 µs',
    count(DISTINCT s.run_id)
  FROM selected_run s
  JOIN phase_time t ON t.run_id = s.run_id AND t.phase NOT IN ('step', 'other')
  UNION ALL
  SELECT
    3,
    'memory by category',
    'categories differ from the peak by more than 0.1 %',
    count(DISTINCT s.run_id)
  FROM selected_run s
  JOIN memory_by_category m ON m.run_id = s.run_id AND m.phase = 'step'
  UNION ALL
  SELECT
    4,
    'memory of the device',
    'more is reserved than it has',
    count(DISTINCT s.run_id)
  FROM selected_run s
  JOIN allocator_vs_driver a ON a.run_id = s.run_id AND a.reserved_peak_bytes IS NOT NULL
  UNION ALL
  SELECT
    5,
    'memory of the driver',
    'parts exceed the peak of the driver by more than 1 %',
    count(DISTINCT s.run_id)
  FROM selected_run s
  JOIN allocator_vs_driver a ON a.run_id = s.run_id AND a.other_bytes IS NOT NULL
  UNION ALL
  SELECT
    6,
    'bandwidth of the link',
    'busbw exceeds that of all_reduce by more than 15 %',
    count(DISTINCT s.run_id)
  FROM selected_run s
  JOIN collective_summary c ON c.run_id = s.run_id AND c.on_device = 1 AND c.busbw_gb_s > 0
  WHERE EXISTS (SELECT 1 FROM all_reduce_bandwidth b WHERE b.backend = 'nccl' AND b.ranks = c.ranks)
  UNION ALL
  SELECT
    7,
    'bandwidth of the memory',
    'a phase exceeds the measured peak by more than 10 %',
    count(DISTINCT s.run_id)
  FROM selected_run s
  JOIN rank k ON k.run_id = s.run_id AND k.rank = 0 AND k.pass = 'time'
  JOIN device_peak p ON p.device_id = k.device_id AND p.kind IN ('copy', 'read', 'cache')
  JOIN throughput t ON t.run_id = s.run_id AND t.phase <> 'step' AND t.bytes_per_s > 0
  UNION ALL
  SELECT
    8,
    'traced step',
    'it takes more than 1.15 times as long as without tracing',
    count(DISTINCT s.run_id)
  FROM selected_run s
  JOIN launch_gap g ON g.run_id = s.run_id AND g.rank = 0 AND g.phase = 'step'
  JOIN phase_time t ON t.run_id = s.run_id AND t.phase = 'step' AND t.clock = 'device'
),
failed AS (
  SELECT
    c.kind,
    c.detail,
    row_number() OVER (PARTITION BY c.kind ORDER BY c.run_id, c.detail) AS position,
    (
      SELECT count(DISTINCT o.run_id)
      FROM selected_run y
      JOIN consistency_check o ON o.run_id = y.run_id AND o.kind = c.kind
    ) AS runs
  FROM selected_run s
  JOIN consistency_check c ON c.run_id = s.run_id
)
SELECT
  c.kind,
  c.limit_text,
  c.runs,
  coalesce(f.runs, 0) AS failed,
  f.detail
FROM checked c
LEFT JOIN failed f ON f.kind = c.kind AND f.position = 1
WHERE EXISTS (SELECT 1 FROM selected_run)
ORDER BY c.position
