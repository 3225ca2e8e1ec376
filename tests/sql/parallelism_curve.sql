-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- with: matmul_peaks
-- Two devices of data parallelism are bound by communication; tensor parallelism is from 8 devices on in forward and
-- from 16 on in backward.
SELECT
  strategy,
  direction,
  devices,
  computation_ms,
  communication_ms,
  limit_devices,
  communication_ms > computation_ms AS binds,
  devices > limit_devices AS is_beyond
FROM parallelism_curve
WHERE devices <= 16
ORDER BY strategy, direction DESC, devices;
