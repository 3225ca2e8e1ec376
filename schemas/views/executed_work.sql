-- SPDX-License-Identifier: Apache-2.0
-- What the hardware executed against the work that operators and workloads declare.

-- Operations of the tensor cores against those that are declared, for each phase and the whole step, per step, sum over
-- all ranks. Reads no peaks: the warnings of a run, from which the peaks follow, depend on it.
CREATE VIEW _executed_work AS
WITH counted AS (
  SELECT
    run_id,
    phase,
    sum(CASE WHEN quantity IN ('bf16', 'fp16', 'tf32', 'fp8', 'fp64') THEN value END) AS tensor_flops,
    sum(CASE quantity WHEN 'tf32' THEN value END) AS tf32_flops
  FROM _hardware_count
  WHERE scope_id IS NULL
  GROUP BY run_id, phase
),
chosen AS (
  SELECT
    run_id,
    rank,
    coalesce(max(CASE pass WHEN 'ops' THEN pass END), max(pass)) AS pass
  FROM op_work
  GROUP BY run_id, rank
),
operator AS (
  SELECT
    o.run_id,
    coalesce(p.text, 'other') AS phase,
    o.kind IN ('matmul', 'attention', 'convolution') AS is_matrix,
    o.kind,
    o.dtype <> 'f32' OR coalesce(n.tf32_flops, CASE WHEN n.run_id IS NULL THEN w.tf32_flops END, 0) > 0 AS is_counted,
    1.0 * o.calls / o.steps * o.flops AS flops,
    1.0 * o.calls / o.steps * o.model_flops AS model_flops,
    1.0 * o.calls / o.steps * o.bytes AS bytes,
    CASE WHEN o.kernels > 0 THEN o.device_ns ELSE o.host_ns END AS time_ns
  FROM op_work o
  JOIN chosen c ON c.run_id = o.run_id AND c.rank = o.rank AND c.pass = o.pass
  LEFT JOIN string p ON p.string_id = o.phase_id
  LEFT JOIN counted n ON n.run_id = o.run_id AND n.phase = p.text
  LEFT JOIN counted w ON w.run_id = o.run_id AND w.phase = 'step'
),
declared AS (
  SELECT
    run_id,
    phase,
    sum(CASE WHEN is_matrix AND is_counted THEN flops END) AS flops,
    sum(CASE WHEN is_matrix AND NOT is_counted THEN flops END) AS f32_flops,
    sum(CASE WHEN is_matrix THEN model_flops END) / nullif(sum(CASE WHEN is_matrix THEN flops END), 0) AS model_share,
    sum(bytes) AS bytes,
    1.0 * sum(CASE kind WHEN 'unknown' THEN time_ns ELSE 0 END) / nullif(sum(time_ns), 0) AS unknown_share
  FROM (
    SELECT * FROM operator
    UNION ALL
    SELECT
      run_id,
      'step',
      is_matrix,
      kind,
      is_counted,
      flops,
      model_flops,
      bytes,
      time_ns
    FROM operator
  )
  GROUP BY run_id, phase
),
compared AS (
  SELECT
    s.*,
    o.unknown_share,
    o.model_share,
    o.bytes,
    o.f32_flops,
    CASE
      WHEN o.run_id IS NULL
        THEN
          (
            SELECT nullif(sum(w.flops), 0)
            FROM work w
            WHERE w.run_id = s.run_id AND (s.phase = 'step' OR w.phase = s.phase)
          )
      ELSE nullif(o.flops, 0)
    END AS declared_flops,
    CASE WHEN o.run_id IS NULL THEN 'workload' ELSE 'operators' END AS source,
    CASE WHEN s.tensor_flops < 1e12 THEN 1e9 ELSE 1e12 END AS scale,
    CASE WHEN s.tensor_flops < 1e12 THEN 'GFLOP' ELSE 'TFLOP' END AS unit
  FROM counted s
  LEFT JOIN declared o ON o.run_id = s.run_id AND o.phase = s.phase
),
found AS (
  SELECT
    c.*,
    c.tensor_flops / c.declared_flops AS flops_ratio,
    CASE
      WHEN c.tensor_flops IS NULL THEN 'not counted'
      WHEN c.declared_flops IS NULL AND c.f32_flops > 0 AND c.tensor_flops = 0 THEN 'outside of tensor cores'
      WHEN c.tensor_flops = 0 AND (c.declared_flops IS NULL OR c.source = 'workload') THEN 'none'
      WHEN c.declared_flops IS NULL THEN 'undeclared'
      WHEN abs(c.tensor_flops / c.declared_flops - 1) <= 0.01 THEN 'equal'
      WHEN c.tensor_flops > c.declared_flops THEN 'more'
      ELSE 'less'
    END AS finding,
    abs(c.tensor_flops / c.declared_flops - 1) > 0.02 AS is_far
  FROM compared c
)
SELECT
  -- run
  f.run_id,
  -- phase; `step` is the whole step
  f.phase,
  -- as in counter_summary
  f.tensor_flops,
  -- as in counter_check
  f.declared_flops,
  -- as in counter_check
  f.source,
  -- as in counter_check
  f.flops_ratio,
  -- as in counter_check
  f.finding,
  -- as in counter_check
  coalesce(f.source = 'operators' AND f.is_far, 0) AS is_warning,
  -- the same in a sentence
  CASE f.finding
    WHEN 'not counted' THEN 'this GPU does not count the operations of its tensor cores'
    WHEN 'none' THEN 'the tensor cores were not used'
    WHEN 'outside of tensor cores'
      THEN
        printf(
          'the declared %.4g GFLOP are products in fp32, which ran outside of the tensor cores and are not counted',
          f.f32_flops / 1e9
        )
    WHEN 'undeclared'
      THEN
        printf(
          '%.4g %s were executed, and none is declared; add ops to --passes, with --trace-detail shapes',
          f.tensor_flops / f.scale,
          f.unit
        )
    WHEN 'equal'
      THEN
        printf(
          '%.4g %s were executed, %.4g times the declared %.4g',
          f.tensor_flops / f.scale,
          f.unit,
          f.flops_ratio,
          f.declared_flops / f.scale
        )
    WHEN 'more'
      THEN
        printf(
          '%.4g %s were executed, %s the declared %.4g: padding to the tiles of the kernels%s%s',
          f.tensor_flops / f.scale,
          f.unit,
          CASE
            WHEN f.flops_ratio < 2 THEN printf('%.3g %% more than', 100 * (f.flops_ratio - 1))
            ELSE printf('%.3g times', f.flops_ratio)
          END,
          f.declared_flops / f.scale,
          CASE WHEN f.is_far THEN ', recomputation within kernels or masked blocks' ELSE '' END,
          CASE
            WHEN f.unknown_share > 0
              THEN
                printf(
                  ', or operators whose work is unknown (%.2g %% of the time of operators)',
                  100 * f.unknown_share
                )
            ELSE ''
          END
        )
    WHEN 'less'
      THEN
        printf(
          '%.4g %s were executed, %.3g %% less than the declared %.4g: kernels skip a part (masked scores, structured '
          || 'sparsity), or products ran outside of the tensor cores',
          f.tensor_flops / f.scale,
          f.unit,
          100 * (1 - f.flops_ratio),
          f.declared_flops / f.scale
        )
  END AS sentence,
  -- minimum bytes of the operators; NULL if unknown
  f.bytes,
  -- operations that the model needs over those that operators execute; NULL without operators
  f.model_share
FROM found f;

-- What was counted against what was declared, for each phase and the whole step, per step, sum over all ranks:
-- floating-point operations of matrix products, convolutions and attention, and bytes of DRAM. The declared work is
-- that of the operators of a pass with their arguments, otherwise that of the workload (table work).
CREATE VIEW counter_check AS
WITH moved AS (
  SELECT
    e.*,
    s.hfu,
    s.dram_read_bytes + s.dram_written_bytes AS dram_bytes,
    (s.dram_read_bytes + s.dram_written_bytes) / nullif(e.bytes, 0) AS bytes_ratio
  FROM _executed_work e
  JOIN counter_summary s ON s.run_id = e.run_id AND s.phase = e.phase
)
SELECT
  -- run
  f.run_id,
  -- phase; `step` is the whole step
  f.phase,
  -- as in counter_summary
  f.tensor_flops AS counted_flops,
  -- those of the types whose operations were counted; products in fp32 only in phases in which operations in
  -- tf32 were
  f.declared_flops,
  -- who declares them: operators or workload
  f.source,
  -- counted over declared operations
  f.flops_ratio,
  -- not counted, none, equal (within 1 %), more, less, undeclared, or outside of tensor cores
  f.finding,
  -- the same in a sentence
  f.sentence,
  -- 1 for a difference of more than 2 %, if operators declare the work
  f.is_warning,
  -- bytes read from and written to DRAM
  f.dram_bytes,
  -- minimum bytes of the operators; NULL if unknown
  f.bytes AS declared_bytes,
  -- DRAM bytes over minimum bytes: above 1, operands were read again; below 1, they came from the L2 cache
  f.bytes_ratio,
  -- the same in a sentence; NULL without declared bytes
  CASE
    WHEN f.bytes_ratio > 1.1
      THEN
        printf(
          '%.4g GB through DRAM, %.3g times the minimum of the operators: operands were read again, or the work of '
          || 'operators is unknown',
          f.dram_bytes / 1e9,
          f.bytes_ratio
        )
    WHEN f.bytes_ratio < 0.9
      THEN
        printf(
          '%.4g GB through DRAM, %.3g of the minimum of the operators: the other operands came from the L2 cache',
          f.dram_bytes / 1e9,
          f.bytes_ratio
        )
    WHEN f.bytes_ratio IS NOT NULL
      THEN
        printf('%.4g GB through DRAM, %.3g times the minimum of the operators', f.dram_bytes / 1e9, f.bytes_ratio)
  END AS bytes_sentence,
  -- as in counter_summary
  f.hfu,
  -- model FLOPs utilization: hfu without recomputation and with causal attention in full, as operators declare both;
  -- NULL without operators
  f.hfu * f.model_share AS mfu,
  -- what counts
  'hfu: all operations of the tensor cores, with padding and recomputation, without structured sparsity, at the '
  || 'measured peaks of their types; mfu: hfu times the declared share of the operations that the model needs; '
  || 'products in fp32 outside of the tensor cores do not count' AS convention
FROM moved f;
