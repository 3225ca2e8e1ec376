-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- with: counters
SELECT
  phase,
  tensor_flops,
  declared_flops,
  finding,
  bytes,
  model_share
FROM _executed_work ORDER BY phase;
