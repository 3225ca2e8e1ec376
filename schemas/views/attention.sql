-- SPDX-License-Identifier: Apache-2.0
-- Attention by itself: the workloads attention_naive, attention_flash and attention_sdpa side by side, against what the
-- device could do, and what lay in memory when a run had no more of it.

-- What a GPU can do at most: multiprocessors × operations per clock and multiprocessor × highest clock, without
-- sparsity, a multiply-add counting two. Known for A100, H100, H200 and B200 with their relatives, by the name; no row
-- for other devices.
CREATE VIEW device_peak AS
SELECT
  -- the device
  d.device_id,
  -- its model
  d.name,
  -- element type: fp32 by ordinary multiply-adds, bf16 and fp16 by tensor cores that add in fp32
  p.dtype,
  -- streaming multiprocessors
  d.multiprocessors,
  -- operations per clock of one of them
  p.flops_per_clock,
  -- highest clock; NULL if unknown, and so is the peak
  d.max_sm_clock_mhz,
  -- their product
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

-- Runs of attention with the parameters that reports sort by.
CREATE VIEW attention_run AS
SELECT
  -- the run
  p.run_id,
  -- naive; tiled or flash of kymo's own; sdpa with the name of LibTorch's backend. What the run chose, where it could
  -- choose and came so far
  p.implementation,
  -- place among them
  CASE p.implementation
    WHEN 'flash' THEN 0
    WHEN 'naive' THEN 1
    WHEN 'sdpa cudnn' THEN 2
    WHEN 'sdpa flash' THEN 3
    WHEN 'sdpa efficient' THEN 4
    WHEN 'sdpa math' THEN 5
    WHEN 'tiled' THEN 6
    ELSE 7
  END AS implementation_order,
  -- sequences
  p.batch,
  -- heads of each
  p.heads,
  -- tokens of each
  p.seq,
  -- width of a head
  p.head_dim,
  -- element type of query, key and value
  p.dtype,
  -- 1 if a token sees only itself and those before it
  p.causal,
  -- forward, backward or forward_backward
  p.mode,
  -- sync, hot or cold
  p.timing,
  -- device it ran on; NULL if none was reached
  d.device_id,
  -- its model
  d.name AS device_name,
  -- blocks of 128 queries: what a kernel can divide among multiprocessors
  p.batch * p.heads * ((p.seq + 127) / 128) AS query_tiles,
  -- 1 if there is one for each multiprocessor; NULL on a CPU
  CASE WHEN d.kind = 'cuda' THEN p.batch * p.heads * ((p.seq + 127) / 128) >= d.multiprocessors END AS fills_device,
  -- size of a matrix of all scores
  p.batch * p.heads * p.seq * p.seq * CASE p.dtype WHEN 'fp32' THEN 4 ELSE 2 END AS score_matrix_bytes,
  -- size of query, key, value or output
  p.batch * p.heads * p.seq * p.head_dim * CASE p.dtype WHEN 'fp32' THEN 4 ELSE 2 END AS tensor_bytes
FROM (
  SELECT
    r.run_id,
    r.mode AS timing,
    CASE r.workload
      WHEN 'attention_naive' THEN 'naive'
      WHEN 'attention_flash'
        THEN
          coalesce(
            max(CASE WHEN q.name = 'implementation' THEN nullif(q.value, 'auto') END),
            (
              SELECT m.value
              FROM metric m
              WHERE m.run_id = r.run_id AND m.name = 'implementation'
              ORDER BY m.pass <> 'time', m.sequence
              LIMIT 1
            ),
            'auto'
          )
      ELSE
        'sdpa '
        || coalesce(
          max(CASE WHEN q.name = 'backend' THEN nullif(q.value, 'auto') END),
          (
            SELECT m.value
            FROM metric m
            WHERE m.run_id = r.run_id AND m.name = 'backend'
            ORDER BY m.pass <> 'time', m.sequence
            LIMIT 1
          ),
          'auto'
        )
    END AS implementation,
    max(CASE WHEN q.name = 'batch' THEN q.value END) AS batch,
    max(CASE WHEN q.name = 'heads' THEN q.value END) AS heads,
    max(CASE WHEN q.name = 'seq' THEN q.value END) AS seq,
    max(CASE WHEN q.name = 'head_dim' THEN q.value END) AS head_dim,
    max(CASE WHEN q.name = 'dtype' THEN q.value END) AS dtype,
    max(CASE WHEN q.name = 'causal' THEN q.value END) AS causal,
    max(CASE WHEN q.name = 'mode' THEN q.value END) AS mode
  FROM run r
  JOIN param q ON q.run_id = r.run_id
  WHERE r.workload IN ('attention_naive', 'attention_flash', 'attention_sdpa')
  GROUP BY r.run_id
) p
LEFT JOIN (
  SELECT
    run_id,
    min(device_id) AS device_id
  FROM rank
  WHERE device_id IS NOT NULL
  GROUP BY run_id
) k ON k.run_id = p.run_id
LEFT JOIN device d ON d.device_id = k.device_id;

-- Time and rate of each pass of those runs. Rates are of the median, with operations counted as published benchmarks
-- do: half if causal, and 2.5 times forward for backward.
CREATE VIEW attention_time AS
SELECT
  -- the run
  t.run_id,
  -- forward or backward; `step` is all of a step
  t.phase,
  -- host or device
  t.clock,
  -- samples
  t.count,
  -- mean
  t.mean_ms,
  -- standard deviation
  t.std_ms,
  -- median
  t.median_ms,
  -- floating-point operations as declared
  w.flops,
  -- operations per second, in 10^12
  w.flops / (nullif(t.median_ms, 0) / 1e3) / 1e12 AS tflop_per_s,
  -- bytes per second as declared, in 10^9
  w.bytes / (nullif(t.median_ms, 0) / 1e3) / 1e9 AS gb_per_s,
  -- what the device can do in the element type, from device_peak; NULL if that is unknown
  e.flops_per_s / 1e12 AS peak_tflop_per_s,
  -- of that
  w.flops / (nullif(t.median_ms, 0) / 1e3) / e.flops_per_s AS peak_share
FROM attention_run a
JOIN phase_time t ON t.run_id = a.run_id
LEFT JOIN throughput w ON w.run_id = t.run_id AND w.phase = t.phase
LEFT JOIN device_peak e ON e.device_id = a.device_id AND e.dtype = a.dtype;

-- Runs of attention as the rows of a grid: time forward and backward, and what was in memory between them.
CREATE VIEW attention_grid AS
SELECT
  -- the run
  a.run_id,
  -- empty if the run ended well, `out of memory`, or another state
  s.state,
  -- mean time of the forward pass; NULL if it was not measured
  CASE WHEN s.state = '' THEN f.mean_ms END AS forward_ms,
  -- its standard deviation
  CASE WHEN s.state = '' THEN f.std_ms END AS forward_std_ms,
  -- mean time of the backward pass; NULL if it was not measured
  CASE WHEN s.state = '' THEN b.mean_ms END AS backward_ms,
  -- its standard deviation
  CASE WHEN s.state = '' THEN b.std_ms END AS backward_std_ms,
  -- handed out by the allocator when backward began: as a GPU run reports itself, else from the memory pass; NULL if
  -- neither was
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
  -- what it asked for then; NULL if unknown
  o.requested_bytes,
  -- free at that moment; NULL if unknown
  o.free_bytes
FROM attention_run a
JOIN (
  SELECT
    run_id,
    CASE state WHEN 'OOM' THEN 'out of memory' ELSE state END AS state
  FROM run_standing
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

-- The blocks that were alive when a memory pass ran out of memory: after its last allocation that went well. What was
-- given back between that and the request that failed is among them.
CREATE VIEW oom_block AS
SELECT
  -- the run
  l.run_id,
  -- rank that ran out
  l.rank,
  -- cuda or cpu
  l.device,
  -- as in allocation
  l.sequence,
  -- size that was asked for
  l.requested_bytes,
  -- size that the allocator took for it
  l.allocated_bytes,
  -- parameter, gradient, optimizer_state, activation, workspace, input or unknown
  l.category,
  -- step of its birth; −1 outside of steps
  l.step,
  -- phase of its birth; `other` outside of phases, `outside` outside of steps
  l.phase,
  -- path of scopes of its birth without the numbers of repeated parts; NULL if none is known
  l.module,
  -- innermost operator that asked for it; NULL if there was none
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
    AND a.device = CASE o.place WHEN 'device' THEN 'cuda' ELSE 'cpu' END
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
JOIN memory_largest l ON l.run_id = a.run_id AND l.rank = a.rank AND l.pass = a.pass AND l.sequence = a.sequence;

-- The latency of attention forward, backward and both, one row per shape and implementation: of runs that time both,
-- and of runs of mode forward with the newest run of mode backward that is like it in all else.
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
      ) AS place
    FROM attention_run a
    JOIN run r ON r.run_id = a.run_id AND r.status = 'ok'
    WHERE a.mode = 'backward'
  )
  WHERE place = 1
)
SELECT
  -- the run that timed forward
  p.run_id,
  -- the run that timed backward: the same one, or another; NULL if there is none
  p.backward_run_id,
  -- as in attention_run
  p.implementation,
  -- the same
  p.implementation_order,
  -- the same
  p.batch,
  -- the same
  p.heads,
  -- the same
  p.seq,
  -- the same
  p.head_dim,
  -- the same
  p.dtype,
  -- the same
  p.causal,
  -- the same
  p.timing,
  -- the same
  p.fills_device,
  -- median time of the forward pass
  f.median_ms AS forward_ms,
  -- median time of the backward pass; NULL without
  b.median_ms AS backward_ms,
  -- median time of both in one step, or the sum of the two medians if they are of two runs
  CASE WHEN p.run_id = p.backward_run_id THEN w.median_ms ELSE f.median_ms + b.median_ms END AS both_ms,
  -- rate of the forward pass, in 10^12 operations per second
  f.tflop_per_s AS forward_tflop_per_s,
  -- of the backward pass
  b.tflop_per_s AS backward_tflop_per_s,
  -- what the device can do, from device_peak; NULL if that is unknown
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
