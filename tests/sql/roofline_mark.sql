-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- Phases and arguments together, types apart. On a GPU, operators without kernels have no operations.
SELECT * FROM roofline_mark ORDER BY label, detail;
UPDATE run SET device_kind = 'cuda' WHERE run_id = 9;
UPDATE op_work SET kernels = 1, device_ns = 1000000 WHERE run_id = 9 AND sequence = 0;
SELECT
  label,
  class,
  flops,
  bytes,
  ms
FROM roofline_mark WHERE label = 'mm, layer' ORDER BY class, flops;
