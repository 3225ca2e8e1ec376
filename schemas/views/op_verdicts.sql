-- SPDX-License-Identifier: Apache-2.0
-- Why operators are not faster, from their rooflines and the waits of collectives.

-- The thresholds of op_verdict and kernel_verdict. One row.
CREATE VIEW _verdict_threshold AS
SELECT
  -- share of the roofline from which a roof limits an operator
  0.6 AS attained,
  -- ratio of the peaks from which a lower precision is worth it
  1.5 AS precision_gain,
  -- duration in µs below which the latency of a call dominates
  5.0 AS short_us,
  -- share of a collective from which it counts as waiting for another rank
  0.25 AS wait_share,
  -- idle share of a phase from which its short kernels are launch-bound
  0.2 AS idle_share,
  -- mean duration in µs below which a kernel is short in such a phase
  10.0 AS launch_us,
  -- share of the multiprocessors without a block, in the last wave or in the only one, from which it matters
  0.2 AS lost_share,
  -- occupancy below which latencies are not hidden
  0.25 AS occupancy,
  -- share of the time of a kernel that belongs to one operator, and of that operator's time that belongs to the kernel,
  -- from which the operator's roofline is that of the kernel
  0.8 AS operator_share,
  -- ratio of counted to declared bytes from which a kernel reads too much
  1.5 AS excess_bytes,
  -- share of the cycles of multiprocessors with active tensor cores below which their utilization is low
  0.3 AS tensor_active,
  -- occupancy from which it is not the number of warps that explains this
  0.5 AS high_occupancy;

-- The collectives of each phase: wait for the last rank, and transfer.
CREATE VIEW _collective_wait AS
SELECT
  -- run
  w.run_id,
  -- pass
  w.pass,
  -- phase of the calls
  w.phase,
  -- as in collective_summary, without underscores
  w.operation,
  -- wait per step, mean over ranks
  w.wait_ms,
  -- transfer per step
  w.transfer_ms,
  -- wait over wait + transfer; NULL if it is not known for all ranks
  w.wait_share,
  -- 1 if this share reaches the threshold and the mean wait exceeds the error of the clocks
  CASE WHEN w.wait_share IS NOT NULL THEN w.wait_share >= t.wait_share AND w.wait_us > w.clock_error_us END AS waits,
  -- the same in words
  CASE
    WHEN w.wait_share IS NOT NULL
      THEN
        printf(
          '%.3g ms per step wait for the last rank, %.3g %% of the time; %.3g ms transfer at %.3g GB/s bus bandwidth',
          w.wait_ms,
          100 * w.wait_share,
          w.transfer_ms,
          w.bus_bytes / nullif(w.transfer_ms, 0) / 1e6
        )
  END AS summary
FROM (
  SELECT
    s.run_id,
    s.pass,
    s.phase,
    replace(s.operation, '_', '') AS operation,
    sum(s.wait_ms) AS wait_ms,
    sum(s.transfer_ms) AS transfer_ms,
    sum(s.wait_ms) / nullif(sum(s.wait_ms + s.transfer_ms), 0) AS wait_share,
    1e3 * sum(s.wait_ms) / sum(CASE WHEN s.wait_ms IS NOT NULL THEN s.launches END) AS wait_us,
    sum(CASE WHEN s.transfer_ms IS NOT NULL THEN s.bus_bytes END) AS bus_bytes,
    max(s.clock_error_us) AS clock_error_us
  FROM collective_summary s
  GROUP BY s.run_id, s.pass, s.phase, replace(s.operation, '_', '')
) w
CROSS JOIN _verdict_threshold t;

-- Why each operator is not faster, from its roofline. Overhead has no row. A roof limits an operator that attains 60 %
-- of it, latency limits calls below 5 µs, and a lower precision is worth it if its peak is 1.5 times as high and the
-- operator does not run in TF32 already. A collective waits if a quarter of its time passes before the last rank
-- starts.
CREATE VIEW op_verdict AS
WITH fact AS (
  SELECT
    o.*,
    o.time_ms / o.calls AS call_ms,
    t.attained AS attained_threshold,
    t.precision_gain,
    t.short_us,
    t.wait_share AS wait_threshold,
    max(coalesce(o.compute_ms, 0), coalesce(o.memory_ms, 0)) / o.calls AS best_call_ms,
    CASE WHEN o.time_ms < o.calls THEN 1e3 ELSE 1 END AS call_scale,
    CASE WHEN o.time_ms < o.calls THEN 'µs' ELSE 'ms' END AS call_unit,
    CASE WHEN o.peak_flop_rate < 1e12 THEN 1e9 ELSE 1e12 END AS flop_scale,
    CASE WHEN o.peak_flop_rate < 1e12 THEN 'GFLOP/s' ELSE 'TFLOP/s' END AS flop_unit,
    w.waits,
    w.summary AS wait_summary
  FROM op_roofline o
  CROSS JOIN _verdict_threshold t
  LEFT JOIN _collective_wait w
    ON o.kind = 'collective'
    AND w.run_id = o.run_id
    AND w.pass = o.pass
    AND w.phase = o.phase
    AND replace(o.name, '_', '') LIKE '%' || w.operation || '%'
  WHERE o.kind <> 'overhead' AND o.time_ms > 0
),
judged AS (
  SELECT
    f.*,
    CASE
      WHEN f.kind = 'collective' AND f.waits IS NULL THEN 'no waits'
      WHEN f.kind = 'collective' AND f.waits THEN 'waiting for communication'
      WHEN f.kind = 'collective' THEN 'communication-bound'
      WHEN f.flops IS NULL THEN 'unknown work'
      WHEN f.bound IS NULL THEN 'no peaks'
      WHEN
        f.is_matrix
        AND f.bound = 'compute'
        AND f.attained >= f.attained_threshold
        AND f.lower_precision_rate >= f.precision_gain * f.peak_flop_rate
        THEN 'wrong precision'
      WHEN f.attained >= f.attained_threshold AND f.bound = 'memory' THEN 'memory-bound'
      WHEN f.attained >= f.attained_threshold THEN 'compute-bound'
      WHEN 1e3 * f.call_ms < f.short_us THEN 'latency-bound'
      ELSE 'undecided'
    END AS finding
  FROM fact f
)
SELECT
  -- run
  j.run_id,
  -- rank that called it
  j.rank,
  -- pass in which it was recorded
  j.pass,
  -- phase of the call
  j.phase,
  -- as in op_roofline
  j.module,
  -- operator name
  j.name,
  -- as in op_roofline
  j.arguments,
  -- as in op_roofline
  j.dtype,
  -- as in op_roofline
  j.recomputed,
  -- calls per step
  j.calls,
  -- time per step
  j.time_ms,
  -- as in op_roofline
  j.share_of_step,
  -- as in op_roofline
  j.flop_rate,
  -- as in op_roofline
  j.byte_rate,
  -- as in op_roofline
  j.attained,
  -- waiting for communication (for another rank), communication-bound (by the transfer), wrong precision, memory-bound,
  -- compute-bound, latency-bound, or `cannot be determined from these passes`: the first of these in this order
  CASE
    WHEN
      j.finding IN ('no waits', 'unknown work', 'no peaks', 'undecided')
      THEN 'cannot be determined from these passes'
    ELSE j.finding
  END AS verdict,
  -- the numbers that the verdict is based on
  CASE j.finding
    WHEN 'no waits'
      THEN printf('%.3g ms per step in collective calls whose starts on all ranks were not recorded', j.time_ms)
    WHEN 'waiting for communication' THEN j.wait_summary
    WHEN 'communication-bound' THEN j.wait_summary
    WHEN 'unknown work' THEN 'kymo has no rule for the work of this operator, and the workload declares none'
    WHEN 'no peaks' THEN 'the peaks of the device were not measured for this data type'
    WHEN 'wrong precision'
      THEN
        printf(
          'fp32 at %.3g of its peak of %.4g %s; the peak of a lower precision is %.4g %s',
          j.attained,
          j.peak_flop_rate / j.flop_scale,
          j.flop_unit,
          j.lower_precision_rate / j.flop_scale,
          j.flop_unit
        )
    WHEN 'memory-bound'
      THEN
        printf(
          '%.3g GB/s at least, %.3g of the measured %.3g GB/s%s',
          j.byte_rate / 1e9,
          j.attained,
          j.peak_byte_rate / 1e9,
          CASE
            WHEN j.from_cache THEN ' of the L2 cache'
            WHEN j.attained > 1 THEN ': operands came from a cache'
            ELSE ''
          END
        )
    WHEN 'compute-bound'
      THEN
        printf(
          '%.4g %s, %.3g of the measured %.4g %s',
          j.flop_rate / j.flop_scale,
          j.flop_unit,
          j.attained,
          j.peak_flop_rate / j.flop_scale,
          j.flop_unit
        )
    WHEN 'latency-bound'
      THEN
        printf('%.3g µs per call, of which the work takes %.3g µs at the peaks', 1e3 * j.call_ms, 1e3 * j.best_call_ms)
    ELSE
      printf(
        '%.4g %s per call, %.3g of the roofline (%s): neither a roof nor the time of a call limits it',
        j.call_scale * j.call_ms,
        j.call_unit,
        j.attained,
        j.bound
      )
  END AS reason,
  -- thresholds of the verdicts
  printf(
    'attained >= %.2g, lower precision >= %.2g times, call < %.2g µs, wait >= %.2g of a collective',
    j.attained_threshold,
    j.precision_gain,
    j.short_us,
    j.wait_threshold
  ) AS thresholds,
  -- what would decide; empty if it is decided
  CASE j.finding
    WHEN 'unknown work' THEN 'declare its work with operator_work()'
    WHEN 'no peaks' THEN CASE j.dtype WHEN 'f64' THEN 'no peak of this type can be measured' ELSE 'kymo peaks' END
    WHEN 'undecided' THEN 'hardware counters'
    WHEN 'no waits' THEN 'trace, with all ranks'
    ELSE ''
  END AS next_step,
  -- as in op_roofline
  j.kind,
  -- as in op_roofline
  j.clock
FROM judged j;
