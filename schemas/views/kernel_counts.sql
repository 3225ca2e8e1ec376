-- SPDX-License-Identifier: Apache-2.0
-- Hardware counters by kernel: passes counters with --counter-ranges kernel.

-- What each metric of CUPTI counts.
CREATE VIEW _counter_metric AS
SELECT
  -- row of table string with the name of the metric
  string_id AS name_id,
  -- operand type of operations of the tensor cores, read and written (DRAM), cache (L2), elapsed (cycles of the range),
  -- active (of all multiprocessors) or tensor (of their tensor cores)
  CASE text
    WHEN 'dram__bytes_read.sum' THEN 'read'
    WHEN 'dram__bytes_write.sum' THEN 'written'
    WHEN 'lts__t_bytes.sum' THEN 'cache'
    WHEN 'sm__cycles_elapsed.max' THEN 'elapsed'
    WHEN 'sm__cycles_active.sum' THEN 'active'
    WHEN 'sm__pipe_tensor_cycles_active.sum' THEN 'tensor'
    ELSE
      CASE
        WHEN text LIKE '%src_bf16%' THEN 'bf16'
        WHEN text LIKE '%src_fp16%' THEN 'fp16'
        WHEN text LIKE '%src_tf32%' THEN 'tf32'
        WHEN text LIKE '%src_fp8%' THEN 'fp8'
        WHEN text LIKE '%src_fp64%' THEN 'fp64'
        WHEN text LIKE '%src_int8%' THEN 'int8'
      END
  END AS quantity,
  -- number of units of a multiprocessor that the metric adds up: its tensor cores are four
  CASE text WHEN 'sm__pipe_tensor_cycles_active.sum' THEN 4 ELSE 1 END AS units
FROM string;

-- The kernels of each step of the passes trace and ops in their order of launch, for runs with counters by kernel.
CREATE VIEW _launch_order AS
SELECT
  -- run
  a.run_id,
  -- rank
  a.rank,
  -- trace or ops
  a.pass,
  -- step
  a.step,
  -- position in the step, from 0
  row_number() OVER (PARTITION BY a.run_id, a.rank, a.pass, a.step ORDER BY a.correlation_id, a.sequence) - 1 AS launch,
  -- name
  a.name_id,
  -- phase
  a.phase_id,
  -- scope path
  a.scope_id,
  -- row of launch_config
  a.launch_config
FROM (SELECT DISTINCT
  run_id,
  rank
FROM kernel_count) c
CROSS JOIN gpu_activity a ON a.run_id = c.run_id AND a.rank = c.rank AND a.launch_config IS NOT NULL AND a.step >= 0;

-- Whether the kernels of each step of the passes trace and ops are those that were counted by kernel: as many, with the
-- same names in the same order.
CREATE VIEW launch_match AS
WITH counted AS (
  SELECT DISTINCT
    run_id,
    rank,
    launch,
    kernel_id
  FROM kernel_count
),
compared AS (
  SELECT
    l.run_id,
    l.rank,
    l.pass,
    l.step,
    count(*) AS launches,
    (SELECT count(*) FROM counted t WHERE t.run_id = l.run_id AND t.rank = l.rank) AS counted,
    min(CASE WHEN c.kernel_id IS NOT l.name_id THEN l.launch END) AS first_difference
  FROM _launch_order l
  LEFT JOIN counted c ON c.run_id = l.run_id AND c.rank = l.rank AND c.launch = l.launch
  GROUP BY l.run_id, l.rank, l.pass, l.step
)
SELECT
  -- run
  m.run_id,
  -- rank
  m.rank,
  -- trace or ops
  m.pass,
  -- step
  m.step,
  -- kernels of the step
  m.launches,
  -- kernels that were counted
  m.counted,
  -- position in the order of launch of the first kernel that differs; NULL if none does
  m.first_difference,
  -- its name in the step
  (
    SELECT n.text
    FROM _launch_order l
    JOIN string n ON n.string_id = l.name_id
    WHERE
      l.run_id = m.run_id
      AND l.rank = m.rank
      AND l.pass = m.pass
      AND l.step = m.step
      AND l.launch = m.first_difference
  ) AS name,
  -- its name where it was counted; NULL if fewer kernels were counted
  (
    SELECT n.text
    FROM counted c
    JOIN string n ON n.string_id = c.kernel_id
    WHERE c.run_id = m.run_id AND c.rank = m.rank AND c.launch = m.first_difference
  ) AS counted_name
FROM compared m;

-- What the hardware counted in each kernel by module, name and launch configuration, within each phase, per step, and
-- how close the kernel comes to the roofline (see op_roofline) by these numbers. The kernels were counted in the order
-- of launch of a step and have the modules, launch configurations and times of the pass trace or ops (a row for each)
-- if their names are those of a step of this pass. What a kernel wrote may still be in the L2 cache when it ends.
CREATE VIEW kernel_work AS
WITH matched AS (
  SELECT
    run_id,
    rank,
    pass,
    max(step) AS step
  FROM launch_match
  WHERE launches = counted AND first_difference IS NULL
  GROUP BY run_id, rank, pass
),
counted AS (
  SELECT
    k.run_id,
    k.rank,
    k.launch,
    sum(CASE m.quantity WHEN 'bf16' THEN k.value / k.steps END) AS bf16,
    sum(CASE m.quantity WHEN 'fp16' THEN k.value / k.steps END) AS fp16,
    sum(CASE m.quantity WHEN 'tf32' THEN k.value / k.steps END) AS tf32,
    sum(CASE m.quantity WHEN 'fp8' THEN k.value / k.steps END) AS fp8,
    sum(CASE m.quantity WHEN 'fp64' THEN k.value / k.steps END) AS fp64,
    sum(CASE WHEN m.quantity IN ('read', 'written') THEN k.value / k.steps END) AS bytes,
    sum(CASE m.quantity WHEN 'cache' THEN k.value / k.steps END) AS cache_bytes,
    sum(CASE m.quantity WHEN 'active' THEN k.value / k.steps END) AS active_cycles,
    sum(CASE m.quantity WHEN 'tensor' THEN k.value / k.steps / m.units END) AS tensor_cycles
  FROM kernel_count k
  JOIN _counter_metric m ON m.name_id = k.name_id
  GROUP BY k.run_id, k.rank, k.launch
),
executed AS (
  SELECT
    l.run_id,
    l.rank,
    l.pass,
    l.phase_id,
    q.module,
    l.name_id,
    l.launch_config,
    count(*) AS calls,
    sum(c.bf16) AS bf16,
    sum(c.fp16) AS fp16,
    sum(c.tf32) AS tf32,
    sum(c.fp8) AS fp8,
    sum(c.fp64) AS fp64,
    count(coalesce(c.bf16, c.fp16, c.tf32, c.fp8, c.fp64)) > 0 AS is_counted,
    sum(c.bytes) AS bytes,
    sum(c.cache_bytes) AS cache_bytes,
    sum(c.tensor_cycles) / nullif(sum(c.active_cycles), 0) AS tensor_active
  FROM matched s
  JOIN _launch_order l ON l.run_id = s.run_id AND l.rank = s.rank AND l.pass = s.pass AND l.step = s.step
  JOIN counted c ON c.run_id = l.run_id AND c.rank = l.rank AND c.launch = l.launch
  LEFT JOIN scope_path q ON q.scope_id = l.scope_id
  GROUP BY l.run_id, l.rank, l.pass, l.phase_id, q.module, l.name_id, l.launch_config
),
total AS (
  SELECT
    t.run_id,
    t.rank,
    t.pass,
    t.phase_id,
    q.module,
    t.name_id,
    t.launch_config,
    sum(t.total_ns) / 1e6 / max(t.steps) AS time_ms
  FROM matched s
  JOIN kernel_total t ON t.run_id = s.run_id AND t.rank = s.rank AND t.pass = s.pass AND t.kind = 'kernel'
  LEFT JOIN scope_path q ON q.scope_id = t.scope_id
  GROUP BY t.run_id, t.rank, t.pass, t.phase_id, q.module, t.name_id, t.launch_config
),
rated AS (
  SELECT
    e.*,
    t.time_ms,
    CASE
      WHEN e.is_counted
        THEN coalesce(e.bf16, 0) + coalesce(e.fp16, 0) + coalesce(e.tf32, 0) + coalesce(e.fp8, 0) + coalesce(e.fp64, 0)
    END AS tensor_flops,
    r.byte_rate AS peak_byte_rate,
    r.cache_byte_rate AS peak_cache_rate,
    coalesce(e.bf16 / r.bf16, 0) + coalesce(e.fp16 / r.fp16, 0) + coalesce(e.tf32 / r.tf32, 0)
    + coalesce(e.fp8 / r.fp8, 0) AS compute_s,
    e.bf16 > 0 AND r.bf16 IS NULL OR e.fp16 > 0 AND r.fp16 IS NULL OR e.tf32 > 0 AND r.tf32 IS NULL
    OR e.fp8 > 0 AND r.fp8 IS NULL OR e.fp64 > 0 AS lacks_peak,
    CASE max(coalesce(e.bf16, 0), coalesce(e.fp16, 0), coalesce(e.tf32, 0), coalesce(e.fp8, 0), coalesce(e.fp64, 0))
      WHEN 0 THEN NULL
      WHEN e.bf16 THEN 'bf16'
      WHEN e.fp16 THEN 'fp16'
      WHEN e.tf32 THEN 'tf32'
      WHEN e.fp8 THEN 'fp8'
      ELSE 'fp64'
    END AS dtype
  FROM executed e
  JOIN total t
    ON t.run_id = e.run_id
    AND t.rank = e.rank
    AND t.pass = e.pass
    AND t.name_id = e.name_id
    AND t.phase_id IS e.phase_id
    AND t.module IS e.module
    AND t.launch_config IS e.launch_config
  JOIN rank k ON k.run_id = e.run_id AND k.rank = e.rank AND k.pass = e.pass
  LEFT JOIN _device_rate r ON r.device_id = k.device_id
),
limited AS (
  SELECT
    w.*,
    CASE WHEN w.is_counted AND NOT coalesce(w.lacks_peak, 0) THEN 1e3 * w.compute_s END AS compute_ms,
    1e3 * w.bytes / w.peak_byte_rate AS memory_ms,
    1e3 * w.cache_bytes / w.peak_cache_rate AS cache_ms
  FROM rated w
)
SELECT
  -- run
  l.run_id,
  -- rank that launched it
  l.rank,
  -- pass with its module, launch configuration and time: trace or ops
  l.pass,
  -- id of the phase in string; NULL outside of phases
  l.phase_id,
  -- phase that launched it; `other` outside of phases
  coalesce(p.text, 'other') AS phase,
  -- scope path without the indices of repeated modules; NULL if unknown
  l.module,
  -- id of the name in string
  l.name_id,
  -- full name
  n.text AS name,
  -- name without template arguments, parameters and namespaces
  coalesce(c.short_name, n.text) AS short_name,
  -- kernel class
  coalesce(c.class, 'other') AS class,
  -- row of launch_config
  l.launch_config,
  -- calls per step
  l.calls,
  -- time per step
  l.time_ms,
  -- floating-point operations of the tensor cores; NULL if none of their types was counted
  l.tensor_flops,
  -- type of most of these operations; NULL if there are none
  l.dtype,
  -- bytes read from and written to DRAM
  l.bytes AS dram_bytes,
  -- bytes through the L2 cache
  l.cache_bytes AS l2_bytes,
  -- as in counter_summary
  l.tensor_active,
  -- operations of the tensor cores per byte of DRAM
  l.tensor_flops / nullif(l.bytes, 0) AS intensity,
  -- operations of the tensor cores per second
  1e3 * l.tensor_flops / nullif(l.time_ms, 0) AS flop_rate,
  -- bytes of DRAM per second
  1e3 * l.bytes / nullif(l.time_ms, 0) AS byte_rate,
  -- measured peak of copy or read; NULL if it was not measured
  l.peak_byte_rate,
  -- share of the time that these operations take at the measured peaks of their types; NULL if one was not measured
  l.compute_ms / nullif(l.time_ms, 0) AS compute_share,
  -- share of the time that the bytes of DRAM take at the measured peak
  l.memory_ms / nullif(l.time_ms, 0) AS memory_share,
  -- share of the time that the bytes of the L2 cache take at its measured peak; NULL if that was not measured
  l.cache_ms / nullif(l.time_ms, 0) AS cache_share,
  -- what limits it at the peaks: compute or memory; NULL if work or peaks are unknown
  CASE
    WHEN l.memory_ms IS NULL OR l.compute_ms IS NULL THEN NULL
    WHEN l.compute_ms > l.memory_ms THEN 'compute'
    ELSE 'memory'
  END AS bound,
  -- share of the roofline: the larger one of compute_share and memory_share
  max(l.compute_ms, l.memory_ms) / nullif(l.time_ms, 0) AS attained
FROM limited l
JOIN string n ON n.string_id = l.name_id
LEFT JOIN string p ON p.string_id = l.phase_id
LEFT JOIN kernel_class c ON c.name_id = l.name_id;
