-- SPDX-License-Identifier: Apache-2.0
-- The work of operators against the measured peaks of the device that they ran on. Passes that recorded the arguments
-- of operators (--trace-detail shapes) only.

-- Each operator by module and arguments, within each phase, per step, and how close it comes to the roofline (Williams,
-- Waterman and Patterson, 2009): the time that the device needs at its measured peaks for the larger of the
-- floating-point operations and the minimum bytes. Times are those of the observed pass.
CREATE VIEW op_roofline AS
WITH operator AS (
  SELECT
    o.run_id,
    o.rank,
    o.pass,
    coalesce(p.text, 'other') AS phase,
    q.module,
    n.text AS name,
    s.text AS arguments,
    o.kind,
    o.dtype,
    o.recomputed,
    o.kind IN ('matmul', 'attention', 'convolution') AS is_matrix,
    1.0 * sum(o.calls) / max(o.steps) AS calls,
    sum(o.calls * o.flops) / max(o.steps) AS flops,
    sum(o.calls * o.model_flops) / max(o.steps) AS model_flops,
    sum(o.calls * o.masked_model_flops) / max(o.steps) AS masked_model_flops,
    sum(o.calls * o.bytes) / max(o.steps) AS bytes,
    sum(o.host_ns) / 1e6 / max(o.steps) AS host_ms,
    sum(o.device_ns) / 1e6 / max(o.steps) AS device_ms,
    sum(o.kernels) AS kernels
  FROM op_work o
  JOIN string n ON n.string_id = o.name_id
  LEFT JOIN string p ON p.string_id = o.phase_id
  LEFT JOIN string s ON s.string_id = o.shapes_id
  LEFT JOIN scope_path q ON q.scope_id = o.scope_id
  GROUP BY o.run_id, o.rank, o.pass, o.phase_id, q.module, o.name_id, o.shapes_id, o.kind, o.dtype, o.recomputed
),
timed AS (
  SELECT
    o.*,
    CASE WHEN o.kernels > 0 THEN 'device' ELSE 'host' END AS clock,
    CASE WHEN o.kernels > 0 THEN o.device_ms ELSE o.host_ms END AS time_ms,
    k.device_id,
    t.byte_rate,
    t.cache_byte_rate,
    t.cache_bytes,
    t.tf32,
    CASE
      WHEN o.dtype = 'f32' OR NOT o.is_matrix THEN t.fp32
      WHEN o.dtype = 'bf16' THEN t.bf16
      WHEN o.dtype = 'f16' THEN t.fp16
      WHEN o.dtype = 'f8' THEN t.fp8
    END AS type_rate,
    CASE WHEN o.dtype = 'f32' THEN nullif(max(coalesce(t.tf32, 0), coalesce(t.bf16, 0)), 0) END AS lower_rate
  FROM operator o
  JOIN rank k ON k.run_id = o.run_id AND k.rank = o.rank AND k.pass = o.pass
  LEFT JOIN _device_rate t ON t.device_id = k.device_id
),
fast AS (
  SELECT
    t.*,
    coalesce(t.is_matrix AND t.dtype = 'f32' AND 1e3 * t.flops > 1.1 * t.type_rate * t.time_ms, 0) AS runs_in_tf32
  FROM timed t
),
served AS (
  SELECT
    t.*,
    CASE WHEN t.runs_in_tf32 THEN coalesce(t.tf32, t.type_rate) ELSE t.type_rate END AS peak_flop_rate,
    CASE WHEN NOT t.runs_in_tf32 THEN t.lower_rate END AS lower_precision_rate,
    CASE
      WHEN t.bytes <= t.cache_bytes * t.calls AND 1e3 * t.bytes > t.byte_rate * t.time_ms THEN t.cache_byte_rate
      ELSE t.byte_rate
    END AS peak_byte_rate
  FROM fast t
),
limited AS (
  SELECT
    s.*,
    1e3 * s.flops / s.peak_flop_rate AS compute_ms,
    1e3 * s.bytes / s.peak_byte_rate AS memory_ms
  FROM served s
)
SELECT
  -- run
  l.run_id,
  -- rank that called it
  l.rank,
  -- pass in which it was recorded
  l.pass,
  -- phase of the call; `other` outside of phases
  l.phase,
  -- scope path without the indices of repeated modules; NULL outside of scopes
  l.module,
  -- operator name such as aten::mm
  l.name,
  -- its arguments; NULL for overhead
  l.arguments,
  -- as in op_work
  l.kind,
  -- as in op_work
  l.dtype,
  -- as in op_work
  l.recomputed,
  -- 1 for matrix products, convolutions and attention, which count for the utilization
  l.is_matrix,
  -- calls per step
  l.calls,
  -- clock of the times: device if it launched kernels, otherwise host
  l.clock,
  -- time per step: of the kernels, or of the whole calls on the host
  l.time_ms,
  -- share of the time of all operators of the step on that clock
  l.time_ms / nullif(sum(l.time_ms) OVER (PARTITION BY l.run_id, l.rank, l.pass, l.clock), 0) AS share_of_step,
  -- floating-point operations per step that are executed; NULL if unknown
  l.flops,
  -- floating-point operations per step that the model needs; see op_work
  l.model_flops,
  -- the same without masked scores; see op_work
  l.masked_model_flops,
  -- minimum bytes per step; NULL if unknown
  l.bytes,
  -- floating-point operations per byte
  l.flops / nullif(l.bytes, 0) AS intensity,
  -- floating-point operations per second
  1e3 * l.flops / nullif(l.time_ms, 0) AS flop_rate,
  -- bytes per second
  1e3 * l.bytes / nullif(l.time_ms, 0) AS byte_rate,
  -- measured peak of matrix products of this type (device_peak), fp32 without TF32; that of tf32 if a product of fp32
  -- exceeds the peak of fp32 by 10 %; for other operators, that of fp32. NULL if it was not measured
  l.peak_flop_rate,
  -- measured peak of copy or read, the higher one; that of the L2 cache if the operator is faster and the bytes of a
  -- call fit into the buffer of that measurement. NULL if it was not measured
  l.peak_byte_rate,
  -- 1 if that is the peak of the cache
  l.peak_byte_rate <> l.byte_rate AS from_cache,
  -- for fp32: the higher one of the measured peaks of tf32 and bf16; NULL if it runs in TF32 already
  l.lower_precision_rate,
  -- time for the operations at the peak
  l.compute_ms,
  -- time for the bytes at the peak
  l.memory_ms,
  -- what limits it at the peaks: compute or memory; NULL for overhead and if work or peaks are unknown
  CASE
    WHEN l.kind = 'overhead' OR l.memory_ms IS NULL OR (l.compute_ms IS NULL AND l.flops > 0) THEN NULL
    WHEN l.compute_ms > l.memory_ms THEN 'compute'
    ELSE 'memory'
  END AS bound,
  -- the longer one of the two times over the measured time: 1 is the roofline. Above 1, operands came from a cache
  -- whose peak is unknown
  CASE
    WHEN l.kind = 'overhead' OR l.memory_ms IS NULL OR (l.compute_ms IS NULL AND l.flops > 0) THEN NULL
    ELSE max(coalesce(l.compute_ms, 0), l.memory_ms) / nullif(l.time_ms, 0)
  END AS attained
FROM limited l;

-- Model FLOPs utilization (MFU) and hardware FLOPs utilization (HFU) of each phase and of the whole step: the rate of
-- matrix products, convolutions and attention over the peak rate. Work is that of all ranks, from the pass ops if it
-- recorded arguments, otherwise from another one; times are those of the time pass.
CREATE VIEW step_utilization AS
WITH chosen AS (
  SELECT
    run_id,
    rank,
    coalesce(max(CASE pass WHEN 'ops' THEN pass END), max(pass)) AS pass
  FROM op_work
  GROUP BY run_id, rank
),
row_of_phase AS (
  SELECT
    o.*,
    'step' AS counted_phase
  FROM op_roofline o
  JOIN chosen c ON c.run_id = o.run_id AND c.rank = o.rank AND c.pass = o.pass
  UNION ALL
  SELECT
    o.*,
    o.phase
  FROM op_roofline o
  JOIN chosen c ON c.run_id = o.run_id AND c.rank = o.rank AND c.pass = o.pass
),
total AS (
  SELECT
    o.run_id,
    o.counted_phase AS phase,
    sum(CASE WHEN o.is_matrix THEN o.flops END) AS flops,
    sum(CASE WHEN o.is_matrix THEN o.model_flops END) AS model_flops,
    sum(CASE WHEN o.is_matrix THEN o.masked_model_flops END) AS masked_model_flops,
    sum(CASE o.kind WHEN 'unknown' THEN o.time_ms ELSE 0 END) / nullif(sum(o.time_ms), 0) AS unknown_share
  FROM row_of_phase o
  GROUP BY o.run_id, o.counted_phase
),
main_type AS (
  SELECT
    run_id,
    dtype,
    max(peak_flop_rate) AS peak_flop_rate,
    row_number() OVER (PARTITION BY run_id ORDER BY sum(model_flops) DESC) AS position
  FROM op_roofline
  WHERE is_matrix
  GROUP BY run_id, dtype
),
device_of_run AS (
  SELECT
    run_id,
    min(device_id) AS device_id,
    count(DISTINCT device_id) AS devices
  FROM rank
  GROUP BY run_id
),
rated AS (
  SELECT
    t.*,
    m.dtype,
    d.devices AS ranks,
    p.median_ms AS time_ms,
    m.peak_flop_rate AS measured_rate,
    (
      SELECT n.flops_per_s
      FROM nominal_peak n
      WHERE
        n.device_id = d.device_id
        AND n.dtype = CASE m.dtype WHEN 'f32' THEN 'fp32' WHEN 'bf16' THEN 'bf16' WHEN 'f16' THEN 'fp16' END
    ) AS nominal_rate,
    (
      SELECT nullif(sum(w.flops), 0)
      FROM work w
      WHERE w.run_id = t.run_id AND (t.phase = 'step' OR w.phase = t.phase)
    ) AS declared_flops
  FROM total t
  JOIN run r ON r.run_id = t.run_id
  JOIN device_of_run d ON d.run_id = t.run_id
  LEFT JOIN main_type m ON m.run_id = t.run_id AND m.position = 1
  LEFT JOIN phase_time p ON p.run_id = t.run_id AND p.phase = t.phase
)
SELECT
  -- run
  r.run_id,
  -- phase; `step` is the whole step
  r.phase,
  -- median of the time pass; NULL if it did not run
  r.time_ms,
  -- matrix products, convolutions and attention that are executed, per step
  r.flops,
  -- the same that the model needs: masked scores count, recomputation does not
  r.model_flops,
  -- the same without masked scores
  r.masked_model_flops,
  -- operations that the workload declares (table work), of all kinds; NULL without a declaration
  r.declared_flops,
  -- type of most of these operations, as in op_work
  r.dtype,
  -- measured peak of all ranks' devices for this type; NULL if it was not measured
  r.ranks * r.measured_rate AS measured_peak_flop_rate,
  -- peak that results from data sheets; NULL if unknown
  r.ranks * r.nominal_rate AS nominal_peak_flop_rate,
  -- model_flops over time and measured peak
  1e3 * r.model_flops / r.time_ms / (r.ranks * r.measured_rate) AS mfu,
  -- masked_model_flops over time and measured peak
  1e3 * r.masked_model_flops / r.time_ms / (r.ranks * r.measured_rate) AS mfu_masked,
  -- flops over time and measured peak
  1e3 * r.flops / r.time_ms / (r.ranks * r.measured_rate) AS hfu,
  -- model_flops over time and nominal peak
  1e3 * r.model_flops / r.time_ms / (r.ranks * r.nominal_rate) AS nominal_mfu,
  -- share of operators whose work is unknown in the time of all operators of the phase
  r.unknown_share,
  -- what counts
  'matrix products, convolutions and attention of the executed operators; embedding lookups have no operations; mfu: '
  || 'causal attention in full, without recomputation; mfu_masked: causal attention without masked scores as far as '
  || 'a fused kernel skips them; hfu: what was executed, with recomputation' AS convention
FROM rated r;
