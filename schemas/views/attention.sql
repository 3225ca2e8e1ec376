-- SPDX-License-Identifier: Apache-2.0
-- Workloads of the family `attention`: times, rates relative to the device peak, and memory use in runs that ran out of
-- memory.

-- Theoretical peak of a GPU: multiprocessors × operations per clock and multiprocessor × maximum clock, without
-- sparsity, counting a multiply-add as two operations. Known for A100, H100, H200, B200 and their variants, by name;
-- other devices have no row.
CREATE VIEW nominal_peak AS
SELECT
  -- device
  d.device_id,
  -- model name
  d.name,
  -- element type: fp32 on CUDA cores; bf16 and fp16 on tensor cores with fp32 accumulation
  p.dtype,
  -- number of streaming multiprocessors
  d.multiprocessors,
  -- operations per clock of one multiprocessor
  p.flops_per_clock,
  -- maximum SM clock; NULL if unknown, in which case the peak is NULL too
  d.max_sm_clock_mhz,
  -- product of the three
  1e6 * d.multiprocessors * p.flops_per_clock * d.max_sm_clock_mhz AS flops_per_s
FROM device d
JOIN (
  SELECT
    m.model,
    e.dtype,
    CASE e.dtype WHEN 'fp32' THEN m.scalar ELSE m.tensor END AS flops_per_clock
  FROM (
    SELECT
      'A100' AS model,
      128 AS scalar,
      2048 AS tensor
    UNION ALL
    SELECT
      'H100',
      256,
      4096
    UNION ALL
    SELECT
      'H200',
      256,
      4096
    UNION ALL
    SELECT
      'B200',
      256,
      8192
  ) m
  CROSS JOIN (
    SELECT 'fp32' AS dtype
    UNION ALL
    SELECT 'bf16'
    UNION ALL
    SELECT 'fp16'
  ) e
) p ON d.kind = 'cuda' AND d.name || ' ' GLOB '*' || p.model || '[^0-9]*';

-- Runs of the family `attention` with their parameters.
CREATE VIEW attention_run AS
SELECT
  -- run
  p.run_id,
  -- title of the run
  x.title AS implementation,
  -- sort order of the implementations
  x.family_order AS implementation_order,
  -- batch size
  p.batch,
  -- number of heads
  p.heads,
  -- sequence length
  p.seq,
  -- head dimension
  p.head_dim,
  -- element type of query, key and value
  p.dtype,
  -- 1 for a causal mask
  p.causal,
  -- forward, backward or forward_backward
  p.mode,
  -- sync, hot or cold
  p.timing,
  -- device the run used; NULL if it did not get that far
  d.device_id,
  -- model name
  d.name AS device_name,
  -- number of blocks of 128 queries, which a kernel can distribute over multiprocessors
  p.batch * p.heads * ((p.seq + 127) / 128) AS query_tiles,
  -- 1 if there is at least one block per multiprocessor; NULL on a CPU
  CASE WHEN d.kind = 'cuda' THEN p.batch * p.heads * ((p.seq + 127) / 128) >= d.multiprocessors END AS fills_device,
  -- size of the full score matrix
  p.batch * p.heads * p.seq * p.seq * CASE p.dtype WHEN 'fp32' THEN 4 ELSE 2 END AS score_matrix_bytes,
  -- size of query, key, value or output
  p.batch * p.heads * p.seq * p.head_dim * CASE p.dtype WHEN 'fp32' THEN 4 ELSE 2 END AS tensor_bytes
FROM (
  SELECT
    r.run_id,
    r.timing,
    max(CASE WHEN q.name = 'batch' THEN q.value END) AS batch,
    max(CASE WHEN q.name = 'heads' THEN q.value END) AS heads,
    max(CASE WHEN q.name = 'seq' THEN q.value END) AS seq,
    max(CASE WHEN q.name = 'head_dim' THEN q.value END) AS head_dim,
    max(CASE WHEN q.name = 'dtype' THEN q.value END) AS dtype,
    max(CASE WHEN q.name = 'causal' THEN q.value END) AS causal,
    max(CASE WHEN q.name = 'mode' THEN q.value END) AS mode
  FROM run r
  JOIN param q ON q.run_id = r.run_id
  WHERE r.family = 'attention'
  GROUP BY r.run_id
) p
JOIN run_series x ON x.run_id = p.run_id
LEFT JOIN (
  SELECT
    run_id,
    min(device_id) AS device_id
  FROM rank
  WHERE device_id IS NOT NULL
  GROUP BY run_id
) k ON k.run_id = p.run_id
LEFT JOIN device d ON d.device_id = k.device_id;

-- Time and rate of the forward and backward phases of those runs. Rates use the median and count operations as
-- published benchmarks do: half with a causal mask, and 2.5 times forward for backward.
CREATE VIEW attention_time AS
SELECT
  -- run
  t.run_id,
  -- forward or backward; `step` is the whole step
  t.phase,
  -- host or device
  t.clock,
  -- number of samples
  t.count,
  -- mean
  t.mean_ms,
  -- standard deviation
  t.std_ms,
  -- median
  t.median_ms,
  -- floating-point operations as declared by the workload
  w.flops,
  -- 10^12 operations per second
  w.flops / (nullif(t.median_ms, 0) / 1e3) / 1e12 AS tflop_per_s,
  -- 10^9 bytes per second, with the bytes declared by the workload
  w.bytes / (nullif(t.median_ms, 0) / 1e3) / 1e9 AS gb_per_s,
  -- peak of the device for the element type, from nominal_peak; NULL if unknown
  e.flops_per_s / 1e12 AS peak_tflop_per_s,
  -- share of that peak
  w.flops / (nullif(t.median_ms, 0) / 1e3) / e.flops_per_s AS peak_share
FROM attention_run a
JOIN phase_time t ON t.run_id = a.run_id
LEFT JOIN throughput w ON w.run_id = t.run_id AND w.phase = t.phase
LEFT JOIN nominal_peak e ON e.device_id = a.device_id AND e.dtype = a.dtype;

-- Attention runs as rows of a grid: forward and backward time, and the memory in use between them.
CREATE VIEW attention_grid AS
SELECT
  -- run
  a.run_id,
  -- empty if the run completed, `out of memory`, or another status
  s.status_label,
  -- mean time of the forward pass; NULL if not measured
  CASE WHEN s.status_label = '' THEN f.mean_ms END AS forward_ms,
  -- standard deviation
  CASE WHEN s.status_label = '' THEN f.std_ms END AS forward_std_ms,
  -- mean time of the backward pass; NULL if not measured
  CASE WHEN s.status_label = '' THEN b.mean_ms END AS backward_ms,
  -- standard deviation
  CASE WHEN s.status_label = '' THEN b.std_ms END AS backward_std_ms,
  -- bytes allocated when backward begins: as reported by the run on a GPU, otherwise from the memory pass; NULL if
  -- neither is available
  coalesce(
    (SELECT max(m.value) FROM metric m WHERE m.run_id = a.run_id AND m.name = 'memory_before_backward'),
    (
      SELECT max(h.begin_allocated_bytes)
      FROM memory_phase h
      WHERE h.run_id = a.run_id AND h.phase = 'backward' AND h.step >= 0
    )
  ) AS before_backward_bytes,
  -- phase or stage that ran out of memory; NULL if none did
  o.failed_phase,
  -- size of the failed request; NULL if unknown
  o.requested_bytes,
  -- free memory at that time; NULL if unknown
  o.free_bytes
FROM attention_run a
JOIN (
  SELECT
    run_id,
    CASE status_label WHEN 'OOM' THEN 'out of memory' ELSE status_label END AS status_label
  FROM run_status
) s ON s.run_id = a.run_id
LEFT JOIN phase_time f ON f.run_id = a.run_id AND f.phase = 'forward'
LEFT JOIN phase_time b ON b.run_id = a.run_id AND b.phase = 'backward'
LEFT JOIN (
  SELECT
    run_id,
    max(failed_phase) AS failed_phase,
    max(requested_bytes) AS requested_bytes,
    min(free_bytes) AS free_bytes
  FROM oom
  GROUP BY run_id
) o ON o.run_id = a.run_id;

-- The live blocks when a memory pass ran out of memory, after its last successful allocation. Blocks freed between that
-- allocation and the failed request are included.
CREATE VIEW oom_block AS
SELECT
  -- run
  l.run_id,
  -- rank that ran out of memory
  l.rank,
  -- cuda or cpu
  l.device,
  -- as in allocation
  l.sequence,
  -- requested size
  l.requested_bytes,
  -- size allocated for it, after rounding
  l.allocated_bytes,
  -- as in memory_category
  l.category,
  -- step of the allocation; −1 outside of steps
  l.step,
  -- phase of the allocation; `other` outside of phases, `outside` outside of steps
  l.phase,
  -- scope path of the allocation without the indices of repeated modules; NULL if unknown
  l.module,
  -- innermost operator that requested it; NULL if there was none
  l.operator
FROM (
  SELECT
    a.run_id,
    a.rank,
    a.pass,
    a.device,
    max(a.sequence) AS last_sequence
  FROM out_of_memory o
  JOIN allocation a
    ON a.run_id = o.run_id
    AND a.rank = o.rank
    AND a.pass = o.pass
    AND a.device = CASE o.location WHEN 'device' THEN 'cuda' ELSE 'cpu' END
  WHERE o.pass = 'memory'
  GROUP BY a.run_id, a.rank, a.pass, a.device
) t
JOIN allocation a
  ON a.run_id = t.run_id
  AND a.rank = t.rank
  AND a.pass = t.pass
  AND a.device = t.device
  AND a.sequence <= t.last_sequence
  AND coalesce(a.free_sequence > t.last_sequence, 1)
JOIN memory_block l ON l.run_id = a.run_id AND l.rank = a.rank AND l.pass = a.pass AND l.sequence = a.sequence;

-- Latency of attention forward, backward and both, one row per shape and implementation: from runs that time both, and
-- from forward-only runs paired with the newest backward-only run that is otherwise identical.
CREATE VIEW attention_latency AS
WITH backward AS (
  SELECT *
  FROM (
    SELECT
      a.*,
      r.suite,
      r.suite_case,
      r.label,
      row_number() OVER (
        PARTITION BY
          a.implementation,
          a.batch,
          a.heads,
          a.seq,
          a.head_dim,
          a.dtype,
          a.causal,
          a.timing,
          a.device_id,
          r.suite,
          r.suite_case,
          r.label
        ORDER BY a.run_id DESC
      ) AS position
    FROM attention_run a
    JOIN run r ON r.run_id = a.run_id AND r.status = 'ok'
    WHERE a.mode = 'backward'
  )
  WHERE position = 1
)
SELECT
  -- run that timed forward
  p.run_id,
  -- run that timed backward: the same run or another; NULL if there is none
  p.backward_run_id,
  -- as in attention_run
  p.implementation,
  -- as in attention_run
  p.implementation_order,
  -- as in attention_run
  p.batch,
  -- as in attention_run
  p.heads,
  -- as in attention_run
  p.seq,
  -- as in attention_run
  p.head_dim,
  -- as in attention_run
  p.dtype,
  -- as in attention_run
  p.causal,
  -- as in attention_run
  p.timing,
  -- as in attention_run
  p.fills_device,
  -- median time of the forward pass
  f.median_ms AS forward_ms,
  -- median time of the backward pass; NULL if not measured
  b.median_ms AS backward_ms,
  -- median time of both in one step, or the sum of the two medians if they are from two runs
  CASE WHEN p.run_id = p.backward_run_id THEN w.median_ms ELSE f.median_ms + b.median_ms END AS forward_backward_ms,
  -- rate of the forward pass, in 10^12 operations per second
  f.tflop_per_s AS forward_tflop_per_s,
  -- rate of the backward pass
  b.tflop_per_s AS backward_tflop_per_s,
  -- peak of the device, from nominal_peak; NULL if unknown
  f.peak_tflop_per_s
FROM (
  SELECT
    a.*,
    CASE a.mode WHEN 'forward_backward' THEN a.run_id ELSE b.run_id END AS backward_run_id
  FROM attention_run a
  JOIN run r ON r.run_id = a.run_id AND r.status = 'ok'
  LEFT JOIN backward b
    ON a.mode = 'forward'
    AND b.implementation = a.implementation
    AND b.batch = a.batch
    AND b.heads = a.heads
    AND b.seq = a.seq
    AND b.head_dim = a.head_dim
    AND b.dtype = a.dtype
    AND b.causal = a.causal
    AND b.timing = a.timing
    AND b.device_id IS a.device_id
    AND b.suite = r.suite
    AND b.suite_case = r.suite_case
    AND b.label = r.label
  WHERE a.mode <> 'backward'
) p
JOIN attention_time f ON f.run_id = p.run_id AND f.phase = 'forward'
LEFT JOIN attention_time b ON b.run_id = p.backward_run_id AND b.phase = 'backward'
LEFT JOIN attention_time w ON w.run_id = p.backward_run_id AND w.phase = 'step';
