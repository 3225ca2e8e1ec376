-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- with: matmul_peaks
-- On a shared network the best number of devices of FSDP is below 1, so that the limit is that of tensor parallelism.
SELECT
  run_id,
  flops_per_s,
  data_devices,
  tensor_forward_devices,
  tensor_backward_devices,
  both_devices,
  both_shared_devices
FROM parallelism_limit
ORDER BY run_id;
-- Without a peak of matrix products: no limits. The ring of two ranks sends as many bytes as the message has.
DELETE FROM work WHERE run_id IN (41, 43);
SELECT * FROM parallelism_limit ORDER BY run_id;
