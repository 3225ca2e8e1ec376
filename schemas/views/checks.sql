-- SPDX-License-Identifier: Apache-2.0
-- Self-checks: results that contradict each other, or a limit of the machine.

-- Violations, one row each. A run without rows passed the checks that its records allow.
CREATE VIEW consistency_check AS
WITH timed AS (
  SELECT
    r.run_id,
    r.case_key,
    r.plugin_id,
    r.label,
    d.name AS device,
    r.suite_case,
    t.median_ms,
    t.median_low_ms AS low,
    t.median_high_ms AS high,
    row_number() OVER same AS position,
    row_number() OVER (
      PARTITION BY r.case_key, r.plugin_id, r.label, d.name
      ORDER BY t.median_ms DESC, r.run_id DESC
    ) AS from_slowest
  FROM current_run r
  JOIN phase_time t ON t.run_id = r.run_id AND t.phase = 'step'
  JOIN rank k ON k.run_id = r.run_id AND k.rank = 0 AND k.pass = 'time'
  JOIN device d ON d.device_id = k.device_id
  WHERE r.status = 'ok' AND r.suite <> '' AND r.warmup > 1
  WINDOW same AS (
    PARTITION BY r.case_key, r.plugin_id, r.label, d.name
    ORDER BY t.median_ms, r.run_id
  )
)
SELECT
  -- run; of two runs that disagree, the slower one
  s.run_id,
  -- `repeated case`, `phases of a step`, `memory by category`, `memory of the device`, `memory of the driver`,
  -- `bandwidth of the link`, `bandwidth of the memory` or `traced step`
  'repeated case' AS kind,
  -- the numbers that contradict each other
  printf(
    'a step takes %.4g ms in case %s and %.4g ms in case %s%s; their confidence intervals do not overlap',
    s.median_ms,
    s.suite_case,
    f.median_ms,
    f.suite_case,
    coalesce(
      (
        SELECT printf(' (SM clocks %d and %d MHz)', a.sm_clock_mhz, b.sm_clock_mhz)
        FROM device_clock a
        JOIN device_clock b ON b.run_id = f.run_id
        WHERE a.run_id = s.run_id AND a.sm_clock_mhz IS NOT NULL AND b.sm_clock_mhz IS NOT NULL
      ),
      ''
    )
  ) AS detail
FROM timed s
JOIN timed f
  ON f.case_key = s.case_key
  AND f.plugin_id = s.plugin_id
  AND f.label = s.label
  AND f.device = s.device
  AND f.position = 1
WHERE
  s.from_slowest = 1
  AND s.suite_case <> f.suite_case
  AND s.low > f.high
  AND s.median_ms > 1.1 * f.median_ms
UNION ALL
SELECT
  p.run_id,
  'phases of a step',
  printf('the phases of rank %d add up to %.4g ms, and its step takes %.4g ms', p.rank, p.phases_ms, p.step_ms)
FROM (
  SELECT
    run_id,
    rank,
    sum(CASE phase WHEN 'step' THEN 0 ELSE mean_ms END) AS phases_ms,
    sum(CASE phase WHEN 'step' THEN mean_ms END) AS step_ms,
    count(*) AS parts
  FROM _rank_time
  GROUP BY run_id, rank
) p
WHERE p.parts > 1 AND abs(p.phases_ms - p.step_ms) > max(0.1 * p.step_ms, 0.05)
UNION ALL
SELECT
  m.run_id,
  'memory by category',
  printf(
    'the categories add up to %.4g MiB at the peak of %.4g MiB in %s',
    m.categories / 1048576.0,
    m.peak_allocated_bytes / 1048576.0,
    m.phase
  )
FROM (
  SELECT
    run_id,
    phase,
    peak_allocated_bytes,
    sum(bytes) AS categories
  FROM memory_by_category
  WHERE phase = 'step'
  GROUP BY run_id, rank, pass, device
) m
WHERE abs(m.categories - m.peak_allocated_bytes) > 0.001 * m.peak_allocated_bytes
UNION ALL
SELECT
  a.run_id,
  'memory of the device',
  printf(
    'the allocator reserved %.4g GiB of a device with %.4g GiB',
    a.reserved_peak_bytes / 1073741824.0,
    d.memory_bytes / 1073741824.0
  )
FROM allocator_vs_driver a
JOIN rank k ON k.run_id = a.run_id AND k.rank = a.rank AND k.pass = a.pass
JOIN device d ON d.device_id = k.device_id
WHERE a.reserved_peak_bytes > d.memory_bytes
UNION ALL
SELECT
  run_id,
  'memory of the driver',
  printf(
    'context, reserved memory and memory in use before exceed the driver peak of %.4g GiB by %.4g GiB',
    driver_peak_bytes / 1073741824.0,
    -other_bytes / 1073741824.0
  )
FROM allocator_vs_driver
WHERE other_bytes < -0.01 * driver_peak_bytes
UNION ALL
SELECT
  c.run_id,
  'bandwidth of the link',
  printf(
    'busbw of %s in %s is %.4g GB/s, and all_reduce reaches %.4g GB/s',
    c.operation,
    c.phase,
    c.busbw_gb_s,
    b.busbw_gb_s
  )
FROM collective_summary c
JOIN run_machine m ON m.run_id = c.run_id
JOIN (
  SELECT
    machine,
    ranks,
    max(busbw_gb_s) AS busbw_gb_s
  FROM all_reduce_bandwidth
  WHERE
    run_id IN (SELECT run_id FROM current_run)
    AND operation = 'all_reduce'
    AND backend = 'nccl'
    AND busbw_gb_s > 0
  GROUP BY machine, ranks
) b ON b.machine = m.machine AND b.ranks = c.ranks
WHERE c.on_device = 1 AND c.busbw_gb_s > 1.15 * b.busbw_gb_s
UNION ALL
SELECT
  t.run_id,
  'bandwidth of the memory',
  printf(
    'phase %s moves %.4g GB/s per rank, and the highest measured bandwidth of its device is %.4g GB/s',
    t.phase,
    t.bytes_per_s / 1e9,
    p.rate / 1e9
  )
FROM throughput t
JOIN run r ON r.run_id = t.run_id AND r.family <> 'peak'
JOIN rank k ON k.run_id = t.run_id AND k.rank = 0 AND k.pass = 'time'
JOIN (
  SELECT
    device_id,
    max(rate) AS rate
  FROM device_peak
  WHERE kind IN ('copy', 'read', 'cache')
  GROUP BY device_id
) p ON p.device_id = k.device_id
WHERE t.phase <> 'step' AND t.bytes_per_s > 1.1 * p.rate
UNION ALL
SELECT
  g.run_id,
  'traced step',
  printf(
    'a traced step takes %.4g ms, and %.4g ms without tracing; idle shares of the trace (%.0f %%) are too high',
    g.span_ms,
    t.mean_ms,
    100 * g.idle_share
  )
FROM launch_gap g
JOIN phase_time t ON t.run_id = g.run_id AND t.phase = 'step' AND t.clock = 'device'
WHERE g.rank = 0 AND g.phase = 'step' AND g.span_ms > 1.15 * t.mean_ms;
