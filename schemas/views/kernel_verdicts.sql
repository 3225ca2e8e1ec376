-- SPDX-License-Identifier: Apache-2.0
-- Why kernels are not faster, from their launch configurations, the gaps between them, the work of the operators that
-- launched them, the work that hardware counters counted in them, and the waits of collectives.

-- Each kernel by module, name and launch configuration, within each phase, per step, and why it is not faster. Copies
-- and memsets have no row. The pass is `ops` if operators with arguments launched kernels in it, otherwise that of
-- kernel_pass. Occupancy and waves follow from the launch configuration and the limits of the device; clusters and a
-- smaller part of the L1 cache configured as shared memory can reduce them. Registers are allocated to warps in units
-- of 256 within each of the four parts of a multiprocessor, shared memory in units of 128 bytes.
CREATE VIEW kernel_verdict AS
WITH sized AS (
  SELECT
    l.*,
    l.total_ns / 1e3 / l.all_calls AS mean_us,
    sum(l.total_ns) OVER (PARTITION BY l.run_id, l.rank) AS step_ns,
    g.grid_x * g.grid_y * g.grid_z AS blocks,
    g.block_x * g.block_y * g.block_z AS threads,
    (g.block_x * g.block_y * g.block_z + 31) / 32 AS warps,
    g.registers,
    (32 * g.registers + 255) / 256 * 256 AS warp_registers,
    g.static_shared_bytes + g.dynamic_shared_bytes AS shared_bytes,
    (g.static_shared_bytes + g.dynamic_shared_bytes + d.reserved_shared_bytes + 127) / 128 * 128 AS block_shared_bytes,
    d.multiprocessors,
    d.multiprocessor_threads / 32 AS max_warps,
    d.multiprocessor_blocks,
    d.multiprocessor_registers,
    d.multiprocessor_shared_bytes
  FROM _launched_kernel l
  LEFT JOIN launch_config g
    ON g.run_id = l.run_id AND g.rank = l.rank AND g.pass = l.pass AND g.launch_config = l.launch_config
  LEFT JOIN rank k ON k.run_id = l.run_id AND k.rank = l.rank AND k.pass = l.pass
  LEFT JOIN device d ON d.device_id = k.device_id
  WHERE l.position = 1
),
limited AS (
  SELECT
    s.*,
    s.max_warps / s.warps AS warp_limit,
    coalesce(s.multiprocessor_registers / 4 / nullif(s.warp_registers, 0) * 4 / s.warps, s.multiprocessor_blocks)
      AS register_limit,
    coalesce(s.multiprocessor_shared_bytes / nullif(s.block_shared_bytes, 0), s.multiprocessor_blocks) AS shared_limit
  FROM sized s
),
resident AS (
  SELECT
    i.*,
    nullif(min(i.warp_limit, i.register_limit, i.shared_limit, i.multiprocessor_blocks), 0) AS resident_blocks
  FROM limited i
),
filled AS (
  SELECT
    r.*,
    CASE r.resident_blocks
      WHEN r.warp_limit THEN 'threads'
      WHEN r.register_limit THEN 'registers'
      WHEN r.shared_limit THEN 'shared memory'
      WHEN r.multiprocessor_blocks THEN 'blocks'
    END AS limiting_resource,
    1.0 * r.resident_blocks * r.warps / r.max_warps AS occupancy,
    1.0 * min(r.resident_blocks * r.multiprocessors, r.blocks) * r.warps / (r.max_warps * r.multiprocessors)
      AS active_occupancy,
    r.multiprocessors * r.resident_blocks AS wave_blocks,
    1.0 * r.blocks / (r.multiprocessors * r.resident_blocks) AS waves,
    (r.blocks + r.multiprocessors * r.resident_blocks - 1) / (r.multiprocessors * r.resident_blocks) AS whole_waves
  FROM resident r
),
fact AS (
  SELECT
    f.*,
    (f.blocks - (f.whole_waves - 1) * f.wave_blocks) * 1.0 / f.wave_blocks AS last_wave,
    (f.whole_waves - f.waves) / f.whole_waves AS tail_loss,
    coalesce(p.text, 'other') AS phase,
    n.text AS name,
    coalesce(c.short_name, n.text) AS short_name,
    coalesce(c.class, 'other') AS class,
    h.idle_share,
    h.gaps,
    h.pass AS idle_pass,
    w.waits,
    w.summary AS wait_summary,
    t.short_us,
    t.launch_us,
    t.idle_share AS idle_threshold,
    t.lost_share,
    t.occupancy AS occupancy_threshold,
    t.operator_share,
    f.operator_ns >= t.operator_share * f.total_ns AND f.operator_ns / 1e6 / f.steps >= t.operator_share * f.operator_ms
      AS is_operator,
    t.attained AS attained_threshold,
    t.precision_gain,
    t.wait_share AS wait_threshold,
    t.excess_bytes,
    t.tensor_active AS tensor_threshold,
    t.high_occupancy,
    x.run_id IS NOT NULL AS is_counted,
    x.dtype AS counted_dtype,
    x.tensor_flops,
    x.tensor_active,
    x.dram_bytes,
    x.flop_rate AS counted_flop_rate,
    x.byte_rate AS counted_byte_rate,
    x.l2_bytes,
    x.time_ms AS counted_ms,
    x.peak_byte_rate,
    x.compute_share,
    x.memory_share,
    x.cache_share,
    x.bound AS counted_bound,
    x.attained AS counted_attained,
    f.operator_byte_rate * f.operator_ms / 1e3 AS operator_bytes
  FROM filled f
  CROSS JOIN _verdict_threshold t
  JOIN string n ON n.string_id = f.name_id
  LEFT JOIN string p ON p.string_id = f.phase_id
  LEFT JOIN kernel_class c ON c.name_id = f.name_id
  LEFT JOIN kernel_work x
    ON x.run_id = f.run_id
    AND x.rank = f.rank
    AND x.pass = f.pass
    AND x.name_id = f.name_id
    AND x.phase_id IS f.phase_id
    AND x.module IS f.module
    AND x.launch_config IS f.launch_config
  LEFT JOIN launch_gap h ON h.run_id = f.run_id AND h.rank = f.rank AND h.phase = coalesce(p.text, 'other')
  LEFT JOIN _collective_wait w
    ON c.class = 'communication'
    AND w.run_id = f.run_id
    AND w.pass = f.pass
    AND w.phase = coalesce(p.text, 'other')
    AND replace(c.short_name, '_', '') LIKE '%' || w.operation || '%'
),
weighed AS (
  SELECT
    f.*,
    coalesce(
      f.is_operator AND f.dram_bytes >= f.excess_bytes * f.operator_bytes AND f.memory_share >= f.attained_threshold, 0
    ) AS is_excess
  FROM fact f
),
judged AS (
  SELECT
    f.*,
    f.is_operator AND f.operator_attained IS NOT NULL AND NOT f.is_excess AS is_declared,
    CASE
      WHEN f.class = 'communication' AND f.waits IS NULL THEN 'no waits'
      WHEN f.class = 'communication' AND f.waits THEN 'waiting for communication'
      WHEN f.class = 'communication' THEN 'communication-bound'
      WHEN f.mean_us < f.launch_us AND f.idle_share >= f.idle_threshold AND f.idle_pass = 'trace' THEN 'launch-bound'
      WHEN f.is_excess THEN 'over-fetched'
      WHEN
        f.is_operator AND f.operator_verdict IN ('wrong precision', 'memory-bound', 'compute-bound')
        THEN f.operator_verdict
      WHEN
        f.memory_share >= f.attained_threshold AND f.memory_share >= coalesce(f.compute_share, 0)
        THEN 'memory-bound by counters'
      WHEN f.compute_share >= f.attained_threshold THEN 'compute-bound by counters'
      WHEN f.cache_share >= f.attained_threshold THEN 'L2-bound'
      WHEN f.waves > 1 AND f.tail_loss >= f.lost_share THEN 'tail effect'
      WHEN f.mean_us < f.launch_us AND f.idle_share >= f.idle_threshold THEN 'gaps in ops'
      WHEN
        f.mean_us < f.short_us
        OR f.blocks <= (1 - f.lost_share) * f.multiprocessors
        OR (f.active_occupancy < f.occupancy_threshold AND f.class NOT IN ('matmul', 'attention'))
        THEN 'latency-bound'
      WHEN
        f.tensor_flops > 0 AND f.tensor_active < f.tensor_threshold AND f.active_occupancy >= f.high_occupancy
        THEN 'low tensor utilization'
      ELSE 'undecided'
    END AS finding,
    printf('%.4g µs per call, ', f.mean_us)
    || CASE
      WHEN f.blocks IS NULL THEN 'launch configuration not recorded'
      WHEN f.resident_blocks IS NULL
        THEN printf('%d blocks of %d threads, limits of the device not recorded', f.blocks, f.threads)
      ELSE
        printf(
          '%d blocks of %d threads on %d multiprocessors, waves: %.3g of %d blocks (%s), %.3g %% of the warps active',
          f.blocks,
          f.threads,
          f.multiprocessors,
          f.waves,
          f.wave_blocks,
          f.limiting_resource,
          100 * f.active_occupancy
        )
    END AS launch
  FROM weighed f
)
SELECT
  -- run
  j.run_id,
  -- rank that launched it
  j.rank,
  -- pass in which it ran
  j.pass,
  -- phase that launched it; `other` outside of phases
  j.phase,
  -- scope path without the indices of repeated modules; NULL if unknown
  j.module,
  -- full name
  j.name,
  -- name without template arguments, parameters and namespaces
  j.short_name,
  -- kernel class
  j.class,
  -- row of launch_config; NULL if the database is older
  j.launch_config,
  -- calls per step
  1.0 * j.all_calls / j.steps AS calls,
  -- time per step
  j.total_ns / 1e6 / j.steps AS time_ms,
  -- share of the time of all kernels of the step
  1.0 * j.total_ns / nullif(j.step_ns, 0) AS share_of_step,
  -- mean duration of a call
  j.mean_us,
  -- blocks of the grid
  j.blocks,
  -- threads of a block
  j.threads,
  -- registers per thread
  j.registers,
  -- shared memory of a block, static and dynamic
  j.shared_bytes,
  -- blocks that fit on a multiprocessor at a time; NULL, like what follows from it, if the limits of the device are not
  -- known
  j.resident_blocks,
  -- threads, registers, shared memory or blocks: the first of these that allows no more
  j.limiting_resource,
  -- warps of these blocks over the maximum
  j.occupancy,
  -- the same with the blocks of the grid, if they do not fill the multiprocessors
  j.active_occupancy,
  -- blocks over those that fit on all multiprocessors at a time
  j.waves,
  -- size of the last wave relative to a full one
  j.last_wave,
  -- share of the time that is lost if all blocks take equally long: (⌈waves⌉ − waves) / ⌈waves⌉. Does not apply to a
  -- single wave
  CASE WHEN j.waves > 1 THEN j.tail_loss END AS tail_loss,
  -- idle share of the GPU in the phase; see launch_gap
  j.idle_share,
  -- operator whose work is that of the kernel, and its arguments and rates as in op_verdict; NULL if there is none
  CASE WHEN j.is_operator THEN j.operator END AS operator,
  -- its arguments
  CASE WHEN j.is_operator THEN j.arguments END AS arguments,
  -- its type
  CASE WHEN j.is_operator THEN j.dtype END AS dtype,
  -- floating-point operations per second
  CASE WHEN j.is_declared THEN j.operator_flop_rate ELSE j.counted_flop_rate END AS flop_rate,
  -- bytes per second
  CASE WHEN j.is_declared THEN j.operator_byte_rate ELSE j.counted_byte_rate END AS byte_rate,
  -- share of the roofline
  CASE WHEN j.is_declared THEN j.operator_attained ELSE j.counted_attained END AS attained,
  -- where these rates come from: declared (by the operator) or counted (by the hardware); NULL if there are none
  CASE
    WHEN j.is_declared THEN 'declared'
    WHEN j.is_counted THEN 'counted'
  END AS work_source,
  -- waiting for communication (for another rank), communication-bound (by the transfer), launch-bound (short, and the
  -- GPU is idle between kernels), over-fetched (DRAM bytes limit it, more of which were counted than declared), wrong
  -- precision, memory-bound, compute-bound, L2-bound, tail effect, latency-bound (short, few blocks or low occupancy),
  -- low tensor utilization (at high occupancy), or `cannot be determined from these passes`: the first in this order
  CASE
    WHEN j.finding IN ('no waits', 'gaps in ops', 'undecided') THEN 'cannot be determined from these passes'
    ELSE replace(j.finding, ' by counters', '')
  END AS verdict,
  -- the numbers that the verdict is based on
  CASE j.finding
    WHEN 'no waits' THEN j.launch || '; the starts of the collective on all ranks were not recorded'
    WHEN 'waiting for communication' THEN j.wait_summary
    WHEN 'communication-bound' THEN j.wait_summary
    WHEN 'launch-bound'
      THEN
        printf(
          '%.4g µs per call, the GPU is idle for %.3g %% of the phase in %.4g gaps per step',
          j.mean_us,
          100 * j.idle_share,
          j.gaps
        )
    WHEN 'gaps in ops'
      THEN
        printf(
          '%.4g µs per call, the GPU is idle for %.3g %% of the phase in the pass ops, which delays launches',
          j.mean_us,
          100 * j.idle_share
        )
    WHEN 'over-fetched'
      THEN
        printf(
          'counted: %.3g GB/s, %.3g of the measured %.3g GB/s, %.3g times the bytes that %s needs: operands are read '
          || 'again, or accesses are not coalesced',
          j.counted_byte_rate / 1e9,
          j.memory_share,
          j.peak_byte_rate / 1e9,
          j.dram_bytes / j.operator_bytes,
          j.operator
        )
    WHEN 'memory-bound by counters'
      THEN
        printf(
          'counted: %.3g GB/s, %.3g of the measured %.3g GB/s',
          j.counted_byte_rate / 1e9,
          j.memory_share,
          j.peak_byte_rate / 1e9
        )
    WHEN 'compute-bound by counters'
      THEN
        printf(
          'counted: %.4g TFLOP/s of tensor cores, mostly %s, %.3g of the measured peak',
          j.counted_flop_rate / 1e12,
          j.counted_dtype,
          j.compute_share
        )
    WHEN 'L2-bound'
      THEN
        printf(
          'counted: %.3g GB/s through the L2 cache, %.3g of its measured peak',
          j.l2_bytes / j.counted_ms / 1e6,
          j.cache_share
        )
    WHEN 'low tensor utilization'
      THEN j.launch || printf('; counted: tensor cores active in %.3g %% of the cycles', 100 * j.tensor_active)
    WHEN 'tail effect'
      THEN
        j.launch
        || printf(
          '; the last wave has %.3g of the blocks of a full one, %.3g %% of the time is lost',
          j.last_wave,
          100 * j.tail_loss
        )
    WHEN 'latency-bound'
      THEN
        j.launch
        || CASE
          WHEN j.mean_us < j.short_us THEN ': a short call'
          WHEN j.blocks <= (1 - j.lost_share) * j.multiprocessors THEN ': few blocks'
          ELSE ': low occupancy'
        END
    WHEN 'undecided'
      THEN
        j.launch
        || CASE
          WHEN
            j.waves <= 1
            THEN '; one wave: no tail follows from the grid, a persistent kernel divides its work itself'
          ELSE ''
        END
        || CASE
          WHEN j.is_declared THEN '; ' || j.operator || ': ' || j.operator_reason
          WHEN j.counted_attained IS NOT NULL
            THEN printf('; counted: %.3g of the roofline (%s), no roof limits it', j.counted_attained, j.counted_bound)
          WHEN j.is_counted THEN '; the peaks of the device were not measured for its counted operations and bytes'
          WHEN j.is_operator THEN '; ' || j.operator || ': ' || j.operator_reason
          WHEN NOT j.has_operators THEN '; its work is unknown'
          WHEN j.operator IS NULL THEN '; no operator launched it'
          ELSE
            printf(
              '; no operator launched %.3g of it and spent %.3g of its time in it', j.operator_share, j.operator_share
            )
        END
    ELSE j.operator || ': ' || j.operator_reason
  END AS reason,
  -- thresholds of the verdicts
  printf(
    'wait >= %.2g of a collective; idle >= %.2g and call < %.3g µs; attained >= %.2g, lower precision >= %.2g times, '
    || 'operator >= %.2g; tail >= %.2g; call < %.2g µs, multiprocessors without a block >= %.2g, active warps < %.2g '
    || '(except matmul and attention); counted bytes >= %.2g of declared; tensor cores active < %.2g with active '
    || 'warps >= %.2g',
    j.wait_threshold,
    j.idle_threshold,
    j.launch_us,
    j.attained_threshold,
    j.precision_gain,
    j.operator_share,
    j.lost_share,
    j.short_us,
    j.lost_share,
    j.occupancy_threshold,
    j.excess_bytes,
    j.tensor_threshold,
    j.high_occupancy
  ) AS thresholds,
  -- the pass or command that would decide; empty if it is decided
  CASE
    WHEN j.finding = 'no waits' THEN 'trace, with all ranks'
    WHEN j.finding = 'gaps in ops' THEN 'trace'
    WHEN j.finding <> 'undecided' THEN ''
    WHEN j.is_counted AND j.counted_attained IS NOT NULL THEN 'why its warps wait: Nsight Compute'
    WHEN j.is_counted AND j.counted_dtype IS 'fp64' THEN 'no peak of this type can be measured'
    WHEN j.is_counted THEN 'kymo peaks'
    WHEN NOT j.has_operators THEN 'ops with --trace-detail shapes'
    WHEN j.resident_blocks IS NULL THEN 'trace, recorded by this version of kymo'
    ELSE
      coalesce(
        CASE WHEN j.is_operator THEN nullif(j.operator_next_step, 'hardware counters') END,
        'counters with --counter-ranges kernel'
      )
  END AS next_step
FROM judged j;
