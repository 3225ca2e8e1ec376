-- SPDX-License-Identifier: Apache-2.0
-- Hardware counters.

-- What each metric of CUPTI counts, and its value per step, for each phase and scope: the mean over the measured steps
-- in which it was counted.
CREATE VIEW _hardware_count AS
SELECT
  -- run
  h.run_id,
  -- rank
  h.rank,
  -- pass
  h.pass,
  -- phase; `step` is the whole step
  coalesce(p.text, 'step') AS phase,
  -- row of table string with the path of the scope; NULL for the whole phase
  h.scope_id,
  -- operand type of operations of the tensor cores, read and written (DRAM), cache (L2), elapsed (cycles of the range),
  -- active (of all multiprocessors) or tensor (of their tensor cores, mean of the four of a multiprocessor)
  m.quantity,
  -- entries into the phase or scope
  1.0 * sum(h.calls) / t.steps AS calls,
  -- count
  sum(h.value) / t.steps / m.units AS value
FROM hardware_count h
JOIN _counter_metric m ON m.name_id = h.name_id
JOIN (
  SELECT
    run_id,
    rank,
    pass,
    name_id,
    count(*) AS steps
  FROM hardware_count
  WHERE phase_id IS NULL
  GROUP BY run_id, rank, pass, name_id
) t ON t.run_id = h.run_id AND t.rank = h.rank AND t.pass = h.pass AND t.name_id = h.name_id
LEFT JOIN string p ON p.string_id = h.phase_id
GROUP BY h.run_id, h.rank, h.pass, h.phase_id, h.scope_id, h.name_id;

-- What the hardware counted in each phase and in the whole step, per step, sum over all ranks. Times are those of the
-- time pass: counting waits for the device at the ends of phases.
CREATE VIEW counter_summary AS
WITH counted AS (
  SELECT
    run_id,
    rank,
    pass,
    phase,
    sum(CASE quantity WHEN 'bf16' THEN value END) AS bf16,
    sum(CASE quantity WHEN 'fp16' THEN value END) AS fp16,
    sum(CASE quantity WHEN 'tf32' THEN value END) AS tf32,
    sum(CASE quantity WHEN 'fp8' THEN value END) AS fp8,
    sum(CASE quantity WHEN 'fp64' THEN value END) AS fp64,
    sum(CASE quantity WHEN 'int8' THEN value END) AS int8,
    sum(CASE WHEN quantity IN ('bf16', 'fp16', 'tf32', 'fp8', 'fp64') THEN value END) AS tensor_flops,
    sum(CASE quantity WHEN 'read' THEN value END) AS read_bytes,
    sum(CASE quantity WHEN 'written' THEN value END) AS written_bytes,
    sum(CASE quantity WHEN 'cache' THEN value END) AS cache_bytes,
    sum(CASE quantity WHEN 'elapsed' THEN value END) AS elapsed_cycles,
    sum(CASE quantity WHEN 'active' THEN value END) AS active_cycles,
    sum(CASE quantity WHEN 'tensor' THEN value END) AS tensor_cycles
  FROM _hardware_count
  WHERE scope_id IS NULL
  GROUP BY run_id, rank, pass, phase
),
rated AS (
  SELECT
    c.*,
    d.multiprocessors,
    t.byte_rate,
    CASE
      WHEN c.bf16 > 0 AND t.bf16 IS NULL OR c.fp16 > 0 AND t.fp16 IS NULL THEN NULL
      WHEN c.tf32 > 0 AND t.tf32 IS NULL OR c.fp8 > 0 AND t.fp8 IS NULL OR c.fp64 > 0 THEN NULL
      WHEN c.tensor_flops IS NOT NULL
        THEN
          coalesce(c.bf16 / t.bf16, 0)
          + coalesce(c.fp16 / t.fp16, 0)
          + coalesce(c.tf32 / t.tf32, 0)
          + coalesce(c.fp8 / t.fp8, 0)
    END AS compute_s
  FROM counted c
  LEFT JOIN rank k ON k.run_id = c.run_id AND k.rank = c.rank AND k.pass = c.pass
  LEFT JOIN device d ON d.device_id = k.device_id
  LEFT JOIN _device_rate t ON t.device_id = k.device_id
),
total AS (
  SELECT
    run_id,
    phase,
    count(*) AS ranks,
    sum(tensor_flops) AS tensor_flops,
    sum(bf16) AS bf16_flops,
    sum(fp16) AS fp16_flops,
    sum(tf32) AS tf32_flops,
    sum(fp8) AS fp8_flops,
    sum(fp64) AS fp64_flops,
    sum(int8) AS int8_operations,
    sum(read_bytes) AS dram_read_bytes,
    sum(written_bytes) AS dram_written_bytes,
    sum(cache_bytes) AS l2_bytes,
    sum(active_cycles) / nullif(sum(elapsed_cycles * multiprocessors), 0) AS sm_active,
    sum(tensor_cycles) / nullif(sum(active_cycles), 0) AS tensor_active,
    CASE WHEN count(compute_s) = count(*) THEN sum(compute_s) END AS compute_s,
    sum((read_bytes + written_bytes) / byte_rate) AS memory_s
  FROM rated
  GROUP BY run_id, phase
)
SELECT
  -- run
  t.run_id,
  -- phase; `step` is the whole step
  t.phase,
  -- number of ranks that counted
  t.ranks,
  -- median of the time pass; NULL if it did not run
  p.median_ms AS time_ms,
  -- floating-point operations of the tensor cores, including those on padding; structured sparsity is not counted
  t.tensor_flops,
  -- those with bf16 operands; NULL if they were not counted, as in the other columns
  t.bf16_flops,
  -- those with fp16 operands
  t.fp16_flops,
  -- those with tf32 operands
  t.tf32_flops,
  -- those with fp8 operands
  t.fp8_flops,
  -- those with fp64 operands
  t.fp64_flops,
  -- operations of the tensor cores with int8 operands
  t.int8_operations,
  -- bytes read from DRAM
  t.dram_read_bytes,
  -- bytes written to DRAM; what is still in the L2 cache at the end of the phase is missing
  t.dram_written_bytes,
  -- bytes through the L2 cache
  t.l2_bytes,
  -- mean share of the multiprocessors with a resident warp while the phase was counted, which includes the waits at its
  -- ends: a lower bound
  t.sm_active,
  -- share of the cycles of active multiprocessors in which their tensor cores were active
  t.tensor_active,
  -- DRAM bytes over time_ms and the measured peak of copy or read; NULL without either
  1e3 * t.memory_s / t.ranks / p.median_ms AS dram_utilization,
  -- hardware FLOPs utilization: the time that the tensor operations take at the measured peaks of their types, over
  -- time_ms
  1e3 * t.compute_s / t.ranks / p.median_ms AS hfu
FROM total t
LEFT JOIN phase_time p ON p.run_id = t.run_id AND p.phase = t.phase;

-- What the hardware counted in each module within each phase, per step, sum over all ranks: passes with
-- --counter-ranges scope. A module includes those within it. Autograd runs the backward pass on another thread, so that
-- its modules are not counted apart.
CREATE VIEW counter_module AS
SELECT
  -- run
  c.run_id,
  -- phase
  c.phase,
  -- scope path; without the indices of repeated modules if another pass recorded the scope
  coalesce(q.module, s.text) AS module,
  -- entries per step
  max(c.calls) AS calls,
  -- as in counter_summary
  sum(CASE WHEN c.quantity IN ('bf16', 'fp16', 'tf32', 'fp8', 'fp64') THEN c.value END) AS tensor_flops,
  -- bytes read from and written to DRAM
  sum(CASE WHEN c.quantity IN ('read', 'written') THEN c.value END) AS dram_bytes,
  -- as in counter_summary
  sum(CASE c.quantity WHEN 'tensor' THEN c.value END) / nullif(sum(CASE c.quantity WHEN 'active' THEN c.value END), 0)
    AS tensor_active
FROM _hardware_count c
JOIN string s ON s.string_id = c.scope_id
LEFT JOIN scope_path q ON q.scope_id = c.scope_id
GROUP BY c.run_id, c.phase, coalesce(q.module, s.text);
