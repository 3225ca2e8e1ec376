-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- with: counters
-- Forward is equal within 2 %; backward executes less; the optimizer and with it the step execute more. Products in
-- fp32 count in the optimizer only, where tf32 was counted.
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
