-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: distributed
-- with: kernel_verdicts
-- with: kernel_counts
-- Kernels of run 60; those of run 63, one of whose steps was counted; none of runs whose kernels differ.
SELECT
  run_id,
  pass,
  phase,
  module,
  short_name,
  class,
  launch_config,
  calls,
  time_ms,
  tensor_flops,
  dtype,
  dram_bytes,
  l2_bytes,
  tensor_active,
  intensity,
  flop_rate,
  byte_rate,
  compute_share,
  memory_share,
  cache_share,
  bound,
  attained
FROM kernel_work ORDER BY run_id, phase;
-- One verdict for each reason.
SELECT
  phase,
  work_source,
  verdict,
  round(attained, 3) AS attained,
  reason,
  next_step
FROM kernel_verdict WHERE run_id = 60 ORDER BY phase;
-- Without the peak of the cache, that of memory alone says nothing about the cache.
UPDATE run SET status = 'failed' WHERE run_id = 3;
SELECT
  phase,
  verdict,
  reason
FROM kernel_verdict WHERE run_id = 60 AND phase = 'cache';
-- Few warps explain idle tensor cores; an operator that needs as many bytes reads nothing again.
UPDATE launch_config SET block_x = 32, dynamic_shared_bytes = 40960 WHERE run_id = 60;
UPDATE op_work SET bytes = 14e6 WHERE run_id = 60 AND sequence = 0;
SELECT
  phase,
  work_source,
  verdict
FROM kernel_verdict WHERE run_id = 60 AND phase IN ('tensor', 'excess') ORDER BY phase;
