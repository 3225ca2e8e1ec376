-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- with: counters
-- Forward executes more, by padding; backward executes less; the optimizer is equal; the step executes more. Products
-- in fp32 count in the optimizer only, where tf32 was counted.
SELECT
  phase,
  counted_flops,
  declared_flops,
  source,
  flops_ratio,
  finding,
  sentence,
  is_warning,
  dram_bytes,
  declared_bytes,
  bytes_sentence,
  hfu,
  mfu
FROM counter_check ORDER BY phase;
SELECT detail FROM run_warning WHERE kind = 'executed work';
