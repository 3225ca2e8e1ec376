-- SPDX-License-Identifier: Apache-2.0
-- Cost model of a collective, time per call plus size over bandwidth, fitted to measured all_reduce runs, and its
-- prediction for gradients exchanged in buckets; limits of parallelism at the measured rates.

-- Time of an all_reduce as alpha + bytes / bandwidth, for each machine, backend, number of ranks and element type:
-- weighted least squares over the newest run of each message size, with weights 1/t² (equal relative errors). In the
-- query x is bytes and y is seconds. Both terms are clamped to be non-negative.
CREATE VIEW all_reduce_fit AS
WITH newest AS (
  SELECT t.*
  FROM (
    SELECT
      b.*,
      row_number() OVER (
        PARTITION BY b.machine, b.backend, b.ranks, b.dtype, b.in_place, b.bytes
        ORDER BY b.run_id DESC
      ) AS position
    FROM all_reduce_bandwidth b
    WHERE b.operation = 'all_reduce' AND b.ranks > 1 AND b.bytes > 0 AND b.median_ms > 0
  ) t
  WHERE t.position = 1
),
total AS (
  SELECT
    machine,
    backend,
    ranks,
    dtype,
    in_place,
    count(*) AS message_sizes,
    min(bytes) AS smallest_bytes,
    max(bytes) AS largest_bytes,
    max(run_id) AS newest_run_id,
    sum(1 / (median_ms / 1e3 * median_ms / 1e3)) AS w,
    sum(bytes / (median_ms / 1e3 * median_ms / 1e3)) AS wx,
    sum(1 / (median_ms / 1e3)) AS wy,
    sum(1.0 * bytes * bytes / (median_ms / 1e3 * median_ms / 1e3)) AS wxx,
    sum(bytes / (median_ms / 1e3)) AS wxy
  FROM newest
  GROUP BY machine, backend, ranks, dtype, in_place
),
line AS (
  SELECT
    t.*,
    (t.w * t.wxy - t.wx * t.wy) / (t.w * t.wxx - t.wx * t.wx) AS slope
  FROM total t
  WHERE t.message_sizes > 1
),
kept AS (
  SELECT
    l.*,
    CASE
      WHEN l.slope <= 0 THEN l.wy / l.w
      WHEN l.wy < l.slope * l.wx THEN 0.0
      ELSE (l.wy - l.slope * l.wx) / l.w
    END AS alpha_s,
    CASE WHEN l.slope <= 0 THEN NULL WHEN l.wy < l.slope * l.wx THEN l.wxy / l.wxx ELSE l.slope END AS s_per_byte
  FROM line l
)
SELECT
  -- as in run_machine
  k.machine,
  -- gloo or nccl
  k.backend,
  -- number of processes
  k.ranks,
  -- element type
  k.dtype,
  -- 1 for an in-place operation
  k.in_place,
  -- number of message sizes in the fit; with two the fit is exact
  k.message_sizes,
  -- smallest message size
  k.smallest_bytes,
  -- largest message size
  k.largest_bytes,
  -- newest run in the fit
  k.newest_run_id,
  -- time per call, independent of the size
  k.alpha_s * 1e6 AS alpha_us,
  -- bandwidth of the size-dependent term in GB/s, comparable to algbw; NULL if the time does not grow with the size
  1 / k.s_per_byte / 1e9 AS bandwidth_gb_s,
  -- largest relative residual of the fit
  (
    SELECT max(abs((k.alpha_s + n.bytes * coalesce(k.s_per_byte, 0)) / (n.median_ms / 1e3) - 1))
    FROM newest n
    WHERE
      n.machine = k.machine
      AND n.backend = k.backend
      AND n.ranks = k.ranks
      AND n.dtype = k.dtype
      AND n.in_place = k.in_place
  ) AS largest_residual
FROM kept k;

-- Each run of the family `data_parallel` that exchanges gradients in buckets of one size (taper = 0), compared with the
-- last-bucket model: if backward hides all other buckets, the step exceeds the step without communication by the
-- transfer of the last bucket plus the time of all calls, s/(n·w) + n·o, with s the gradient bytes,
-- n = ceil(s/bucket) but at most the number of tensors (a gradient larger than a bucket has its own bucket), and o and
-- w from all_reduce_fit. The square root is computed by Newton's method.
CREATE VIEW bucket_prediction AS
WITH RECURSIVE compute_only AS (
  SELECT
    d.comparison_group,
    r.workload,
    d.bucket_mb,
    max(d.run_id) AS run_id,
    p.median_ms
  FROM ddp_run d
  JOIN run r ON r.run_id = d.run_id
  JOIN phase_time p ON p.run_id = d.run_id AND p.phase = 'step' AND p.status = 'ok'
  WHERE d.communicate = 0
  GROUP BY d.comparison_group, r.workload, d.bucket_mb
),
bucketed AS (
  SELECT
    d.run_id,
    d.setting,
    d.comparison_group,
    d.machine,
    d.backend,
    d.ranks,
    d.dtype,
    d.bucket_mb,
    1048576.0 * d.bucket_mb AS bucket_bytes,
    p.median_ms,
    (
      SELECT CAST(max(v.value) AS INTEGER)
      FROM metric v
      WHERE v.run_id = d.run_id AND v.name = 'gradient_bytes'
    ) AS gradient_bytes,
    coalesce(
      (SELECT max(v.value) FROM metric v WHERE v.run_id = d.run_id AND v.name = 'parameter_tensors'),
      9e18
    ) AS tensors,
    c.median_ms AS compute_only_ms,
    row_number() OVER (
      PARTITION BY d.run_id
      ORDER BY c.workload = r.workload DESC, coalesce(c.bucket_mb = d.bucket_mb, 0) DESC, c.run_id DESC
    ) AS position
  FROM ddp_run d
  JOIN run r ON r.run_id = d.run_id
  JOIN phase_time p ON p.run_id = d.run_id AND p.phase = 'step' AND p.status = 'ok'
  LEFT JOIN compute_only c ON c.comparison_group = d.comparison_group
  WHERE d.family = 'data_parallel' AND d.communicate = 1 AND d.bucket_mb > 0 AND d.taper = 0
),
fitted AS (
  SELECT t.*
  FROM (
    SELECT
      b.*,
      f.alpha_us / 1e6 AS o,
      f.bandwidth_gb_s * 1e9 AS w,
      CAST(
        min(
          CAST(b.gradient_bytes / b.bucket_bytes AS INTEGER)
          + (b.gradient_bytes / b.bucket_bytes > CAST(b.gradient_bytes / b.bucket_bytes AS INTEGER)),
          b.tensors
        ) AS INTEGER
      ) AS buckets,
      first_value(b.bucket_mb) OVER (
        PARTITION BY b.comparison_group
        ORDER BY b.median_ms, b.run_id DESC
      ) AS best_measured_bucket_mb,
      row_number() OVER (PARTITION BY b.run_id ORDER BY f.in_place DESC) AS fit_position
    FROM bucketed b
    LEFT JOIN all_reduce_fit f
      ON f.machine = b.machine
      AND f.backend = b.backend
      AND f.ranks = b.ranks
      AND f.dtype = b.dtype
      AND f.bandwidth_gb_s IS NOT NULL
    WHERE b.position = 1
  ) t
  WHERE t.fit_position = 1
),
root (run_id, square, guess, iteration) AS (
  SELECT
    run_id,
    o * gradient_bytes * w,
    max(o * gradient_bytes * w, 1),
    0
  FROM fitted
  WHERE o * gradient_bytes * w > 0
  UNION ALL
  SELECT
    run_id,
    square,
    (guess + square / guess) / 2,
    iteration + 1
  FROM root
  WHERE iteration < 80 AND abs(guess * guess - square) > 1e-12 * square
)
SELECT
  -- run
  f.run_id,
  -- as in ddp_run
  f.setting,
  -- as in ddp_run
  f.comparison_group,
  -- bucket size limit in MiB
  f.bucket_mb,
  -- total gradient size
  f.gradient_bytes,
  -- number of buckets, by that formula
  f.buckets,
  -- traced all_reduce launches per step, grouped calls counting once; NULL without a trace
  (
    SELECT sum(c.launches)
    FROM collective_summary c
    WHERE c.run_id = f.run_id AND c.pass = 'trace' AND c.operation = 'all_reduce'
  ) AS launches,
  -- time per call from all_reduce_fit; NULL if there is no fit for this machine, backend, ranks and element type
  f.o * 1e6 AS alpha_us,
  -- bandwidth from all_reduce_fit
  f.w / 1e9 AS bandwidth_gb_s,
  -- median step of a run in the same comparison group that does not exchange gradients; NULL if there is none
  f.compute_only_ms,
  -- s/(n·w) + n·o
  (f.gradient_bytes / (f.buckets * f.w) + f.buckets * f.o) * 1e3 AS predicted_overhead_ms,
  -- step without exchange plus predicted overhead
  f.compute_only_ms + (f.gradient_bytes / (f.buckets * f.w) + f.buckets * f.o) * 1e3 AS predicted_ms,
  -- measured median step
  f.median_ms AS measured_ms,
  -- measured step − step without exchange
  f.median_ms - f.compute_only_ms AS measured_overhead_ms,
  -- predicted over measured overhead − 1: the model predicts the overhead, not the step. NULL if none was measured
  CASE
    WHEN f.median_ms > f.compute_only_ms
      THEN (f.gradient_bytes / (f.buckets * f.w) + f.buckets * f.o) * 1e3 / (f.median_ms - f.compute_only_ms) - 1
  END AS relative_error,
  -- bucket size at the minimum of the model: √(o·s·w), in MiB; 0 if calls cost nothing
  CASE
    WHEN f.o * f.w = 0 THEN 0.0
    ELSE (SELECT r.guess FROM root r WHERE r.run_id = f.run_id ORDER BY r.iteration DESC LIMIT 1) / 1048576
  END AS best_bucket_mb,
  -- bucket size of the fastest run in the comparison group
  f.best_measured_bucket_mb
FROM fitted f;

-- How far one feed-forward layer (W1 and W2 of d_model × d_ff, W3 of d_ff × d_model, two bytes per element) can be
-- parallelized before communication takes longer than computation, for the bandwidth of a ring and the rate of matrix
-- products measured on the same machine, and a batch of 2048 tokens in a layer with d_ff 10240. Rings over n devices
-- send (n − 1)/n of a tensor for an all-gather or a reduce-scatter, and twice that for an all-reduce.
CREATE VIEW parallelism_limit AS
WITH measured AS (
  SELECT
    f.newest_run_id AS run_id,
    f.machine,
    f.backend,
    f.ranks,
    f.bandwidth_gb_s * 1e9 * 2 * (f.ranks - 1) / f.ranks AS w,
    (
      SELECT p.rate
      FROM rank k
      JOIN device_peak p ON p.device_id = k.device_id AND p.kind = 'matmul'
      WHERE k.run_id = f.newest_run_id AND k.rank = 0
      ORDER BY p.dtype = 'bf16' DESC, p.rate DESC
      LIMIT 1
    ) AS c,
    2048.0 AS b,
    10240.0 AS f
  FROM all_reduce_fit f
  WHERE f.bandwidth_gb_s IS NOT NULL
)
SELECT
  -- newest run of the fit of the bandwidth
  m.run_id,
  -- as in run_machine
  m.machine,
  -- gloo or nccl
  m.backend,
  -- number of processes of the fit
  m.ranks,
  -- W: bytes per second out of each device: algbw of all_reduce_fit × 2(n−1)/n
  m.w AS bytes_per_s,
  -- C: peak of matrix products in bf16 from device_peak, otherwise the highest one; NULL if it was not measured
  m.c AS flops_per_s,
  -- B: tokens of all devices
  CAST(m.b AS INTEGER) AS tokens,
  -- F: width of the layer
  CAST(m.f AS INTEGER) AS d_ff,
  -- largest number of devices of data parallelism, and of FSDP in forward and in backward: 1 + B·W/C
  1 + m.b * m.w / m.c AS data_devices,
  -- of tensor parallelism in forward: 1 + 1.5·F·W/C
  1 + 1.5 * m.f * m.w / m.c AS tensor_forward_devices,
  -- of tensor parallelism in backward: 1 + 3·F·W/C
  1 + 3 * m.f * m.w / m.c AS tensor_backward_devices,
  -- of FSDP and tensor parallelism in forward that overlap: (1 + B·W/C)·(1 + 1.5·F·W/C)
  (1 + m.b * m.w / m.c) * (1 + 1.5 * m.f * m.w / m.c) AS both_devices,
  -- of both if they share the network: with K = 3·B·F·W/C + 3·F + 2·B, K²/(24·B·F) for K/(6·F) devices of FSDP and
  -- K/(4·B) of tensor parallelism; if one of these is below 1, the limit of the other kind alone
  CASE
    WHEN m.k < 6 * m.f THEN 1 + 1.5 * m.f * m.w / m.c
    WHEN m.k < 4 * m.b THEN 1 + m.b * m.w / m.c
    ELSE m.k * m.k / (24 * m.b * m.f)
  END AS both_shared_devices
FROM (
  SELECT
    *,
    3 * b * f * w / c + 3 * f + 2 * b AS k
  FROM measured
) m;

-- The strategies of parallelism_limit in symbols, for tokens B, widths D and F, N devices, and rates C and W.
CREATE VIEW parallelism_strategy AS
SELECT
  -- data parallelism, FSDP or tensor parallelism
  column1 AS strategy,
  -- forward or backward
  column2 AS direction,
  -- floating-point operations of a device
  column3 AS flops_formula,
  -- time of its collectives
  column4 AS communication_formula,
  -- largest number of devices before they take longer than computation
  column5 AS limit_formula,
  -- floating-point operations of all devices by B·D·F
  column6 AS flops_factor,
  -- bytes that a ring moves by D·F, those of weights and their gradients
  column7 AS weight_factor,
  -- bytes that a ring moves by B·D, those of activations
  column8 AS activation_factor
FROM (
  VALUES
  ('data parallelism', 'backward', '12·B·D·F/N', '12·(N − 1)·D·F/(N·W)', '1 + B·W/C', 12.0, 12.0, 0.0),
  ('FSDP', 'forward', '6·B·D·F/N', '6·(N − 1)·D·F/(N·W)', '1 + B·W/C', 6.0, 6.0, 0.0),
  ('FSDP', 'backward', '12·B·D·F/N', '12·(N − 1)·D·F/(N·W)', '1 + B·W/C', 12.0, 12.0, 0.0),
  ('tensor parallelism', 'forward', '6·B·D·F/N', '4·(N − 1)·B·D/(N·W)', '1 + 1.5·F·W/C', 6.0, 0.0, 4.0),
  ('tensor parallelism', 'backward', '12·B·D·F/N', '4·(N − 1)·B·D/(N·W)', '1 + 3·F·W/C', 12.0, 0.0, 4.0)
);

-- Time of computation and of communication by number of devices, for the rates of parallelism_limit and a layer with
-- d_model 2560. The curves of a strategy and direction cross at its limit.
CREATE VIEW parallelism_curve AS
WITH RECURSIVE device (n) AS (
  SELECT 2
  UNION ALL
  SELECT n * 2
  FROM device
  WHERE n < 4096
),
sized AS (
  SELECT
    l.*,
    1.0 * l.tokens AS b,
    2560.0 AS d,
    1.0 * l.d_ff AS f
  FROM parallelism_limit l
  WHERE l.flops_per_s > 0
)
SELECT
  -- as in parallelism_limit
  l.run_id,
  -- as in parallelism_limit
  l.backend,
  -- as in parallelism_limit
  l.ranks,
  -- as in parallelism_strategy
  s.strategy,
  -- as in parallelism_strategy
  s.direction,
  -- N
  n.n AS devices,
  -- time of the floating-point operations of a device
  1e3 * s.flops_factor * l.b * l.d * l.f / (n.n * l.flops_per_s) AS computation_ms,
  -- time of its collectives
  1e3 * (n.n - 1) * (s.weight_factor * l.d * l.f + s.activation_factor * l.b * l.d)
  / (n.n * l.bytes_per_s) AS communication_ms,
  -- where the curves cross
  1 + s.flops_factor * l.b * l.f * l.bytes_per_s
  / (l.flops_per_s * (s.weight_factor * l.f + s.activation_factor * l.b)) AS limit_devices
FROM sized l
CROSS JOIN parallelism_strategy s
CROSS JOIN device n;
