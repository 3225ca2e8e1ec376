-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM kernel_entry WHERE run_id = 11 ORDER BY phase, module, name_id;
SELECT
  run_id,
  pass,
  class,
  total_ns
FROM kernel_entry
WHERE run_id = 12
ORDER BY name_id;
