-- SPDX-License-Identifier: Apache-2.0
-- Data-parallel training: cost of the strategies.

-- Runs of the families `data_parallel` and `optimizer_sharding` with their parameters.
CREATE VIEW ddp_run AS
SELECT
  -- run
  x.run_id,
  -- data_parallel or optimizer_sharding
  x.family,
  -- title of the run
  x.title AS strategy,
  -- sort order of the strategies; those without gradient exchange are last
  x.family_order + CASE p.communicate WHEN 0 THEN 1000 ELSE 0 END AS strategy_order,
  -- 1 for the baseline, as in run_series
  x.is_baseline,
  -- element type of parameters and gradients
  coalesce(p.dtype, 'fp32') AS dtype,
  -- gloo or nccl; auto if the run did not get that far
  p.backend,
  -- number of processes
  r.ranks,
  -- 0 if gradients are not exchanged, which gives wrong training results and the compute-only time
  coalesce(p.communicate, 1) AS communicate,
  -- bucket size limit in MiB; NULL without buckets
  p.bucket_mb,
  -- 1 if each bucket is also limited to half of the remaining gradients; NULL if the workload does not have this
  -- parameter
  p.taper,
  -- sharding scheme, or `none`: the parameter of that name, or the name of a workload without it; NULL for
  -- data_parallel
  CASE x.family WHEN 'optimizer_sharding' THEN coalesce(p.scheme, r.workload) END AS scheme,
  -- sort order of the sharding schemes
  CASE x.family WHEN 'optimizer_sharding' THEN coalesce(p.scheme_order, 100 + x.family_order) END AS scheme_order,
  -- as in run_series; for optimizer_sharding the scheme and its settings
  CASE WHEN x.family = 'optimizer_sharding' AND p.scheme IS NULL THEN x.title ELSE x.variant END AS variant,
  -- as in run_machine
  m.machine,
  -- as in run_series
  x.setting,
  -- as in run_series
  x.comparison_group
FROM run_series x
JOIN run r ON r.run_id = x.run_id
JOIN run_machine m ON m.run_id = x.run_id
LEFT JOIN (
  SELECT
    q.run_id,
    max(CASE q.name WHEN 'dtype' THEN q.value END) AS dtype,
    max(CASE q.name WHEN 'backend' THEN q.effective END) AS backend,
    max(CASE q.name WHEN 'communicate' THEN q.value END) AS communicate,
    max(CASE q.name WHEN 'bucket_mb' THEN q.value END) AS bucket_mb,
    max(CASE q.name WHEN 'taper' THEN q.value END) AS taper,
    max(CASE q.name WHEN 'scheme' THEN q.value END) AS scheme,
    max(CASE q.name WHEN 'scheme' THEN q.choice END) AS scheme_order
  FROM run_parameter q
  GROUP BY q.run_id
) p ON p.run_id = x.run_id
WHERE x.family IN ('data_parallel', 'optimizer_sharding');

-- Time and communication of each run of data-parallel training. Phase times are means over ranks and measured steps and
-- add up to the mean step of the ranks; they include the time a rank waits for other ranks. Failed runs have a row
-- without values.
CREATE VIEW ddp_summary AS
WITH baseline AS (
  SELECT
    d.family,
    d.comparison_group,
    r.invocation_id,
    max(d.run_id) AS run_id,
    d.strategy,
    p.median_ms
  FROM ddp_run d
  JOIN run r ON r.run_id = d.run_id AND r.status = 'ok'
  LEFT JOIN phase_time p ON p.run_id = d.run_id AND p.phase = 'step'
  WHERE d.is_baseline
  GROUP BY d.family, d.comparison_group, r.invocation_id
)
SELECT
  -- run
  t.run_id,
  -- as in ddp_run
  t.strategy,
  -- as in ddp_run
  t.strategy_order,
  -- as in ddp_run
  t.family,
  -- as in ddp_run
  t.is_baseline,
  -- as in ddp_run
  t.bucket_mb,
  -- as in ddp_run
  t.communicate,
  -- as in ddp_run
  t.setting,
  -- as in ddp_run
  t.comparison_group,
  -- median step; the slowest rank determines each step
  t.median_ms,
  -- mean step
  t.mean_ms,
  -- standard deviation
  t.std_ms,
  -- rank with the highest median step time
  t.slowest_rank,
  -- highest − lowest median step of a rank
  t.spread_ms,
  -- mean step of all ranks
  t.rank_step_ms,
  -- phase forward
  t.forward_ms,
  -- phase backward, including communication that overlaps with it
  t.backward_ms,
  -- phase communication: exposed communication after backward
  t.communication_ms,
  -- phase optimizer, including its communication
  t.optimizer_ms,
  -- share of the mean step of all ranks
  t.communication_ms / nullif(t.rank_step_ms, 0) AS communication_share,
  -- time per step during which communication kernels ran, mean over ranks; NULL without a GPU trace
  o.communication_ms AS traced_communication_ms,
  -- exposed communication: part of that time during which no other kernel ran
  o.exposed_ms,
  -- share of communication that overlaps with compute
  o.overlap_share,
  -- strategy of the newest baseline in the same family and comparison group, preferably of the same invocation; NULL if
  -- there is none
  t.baseline,
  -- median step of the baseline over the median step of this run
  1.0 * t.baseline_ms / nullif(t.median_ms, 0) AS speedup,
  -- number of trained parameter tensors, as reported by the workload
  t.parameter_tensors,
  -- size of their gradients
  t.gradient_bytes,
  -- tokens of all ranks over the median step; NULL if the workload does not report tokens
  t.ranks * t.tokens_per_step * 1e3 / nullif(t.median_ms, 0) AS tokens_per_s
FROM (
  SELECT
    d.*,
    p.median_ms,
    p.mean_ms,
    p.std_ms,
    w.slowest_rank,
    w.spread_ms,
    f.rank_step_ms,
    f.forward_ms,
    f.backward_ms,
    f.communication_ms,
    f.optimizer_ms,
    v.parameter_tensors,
    v.gradient_bytes,
    v.tokens_per_step,
    CASE WHEN b.run_id IS NULL THEN n.strategy ELSE b.strategy END AS baseline,
    CASE WHEN b.run_id IS NULL THEN n.median_ms ELSE b.median_ms END AS baseline_ms
  FROM ddp_run d
  JOIN run r ON r.run_id = d.run_id
  LEFT JOIN phase_time p ON p.run_id = d.run_id AND p.phase = 'step' AND p.status = 'ok'
  LEFT JOIN _rank_spread w ON w.run_id = d.run_id AND r.status = 'ok'
  LEFT JOIN (
    SELECT
      run_id,
      avg(CASE phase WHEN 'step' THEN mean_ms END) AS rank_step_ms,
      avg(CASE phase WHEN 'forward' THEN mean_ms END) AS forward_ms,
      avg(CASE phase WHEN 'backward' THEN mean_ms END) AS backward_ms,
      avg(CASE phase WHEN 'communication' THEN mean_ms END) AS communication_ms,
      avg(CASE phase WHEN 'optimizer' THEN mean_ms END) AS optimizer_ms
    FROM _rank_time
    GROUP BY run_id
  ) f ON f.run_id = d.run_id AND r.status = 'ok'
  LEFT JOIN (
    SELECT
      run_id,
      CAST(max(CASE name WHEN 'parameter_tensors' THEN value END) AS INTEGER) AS parameter_tensors,
      CAST(max(CASE name WHEN 'gradient_bytes' THEN value END) AS INTEGER) AS gradient_bytes,
      max(CASE name WHEN 'tokens_per_step' THEN value END) AS tokens_per_step
    FROM metric
    GROUP BY run_id
  ) v ON v.run_id = d.run_id
  LEFT JOIN baseline b
    ON b.family = d.family AND b.comparison_group = d.comparison_group AND b.invocation_id = r.invocation_id
  LEFT JOIN (
    SELECT
      family,
      comparison_group,
      max(run_id) AS run_id,
      strategy,
      median_ms
    FROM baseline
    GROUP BY family, comparison_group
  ) n ON n.family = d.family AND n.comparison_group = d.comparison_group
) t
LEFT JOIN (
  SELECT
    run_id,
    avg(communication_ms) AS communication_ms,
    avg(exposed_ms) AS exposed_ms,
    sum(overlap_ms) / nullif(sum(communication_ms), 0) AS overlap_share
  FROM communication_overlap
  WHERE phase = 'step'
  GROUP BY run_id
) o ON o.run_id = t.run_id;
