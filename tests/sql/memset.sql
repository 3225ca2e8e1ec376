-- SPDX-License-Identifier: Apache-2.0
-- with: collected
INSERT INTO string VALUES (60, 'memset');
INSERT INTO gpu_activity (
  run_id, rank, pass, sequence, name_id, start_ns, end_ns, stream, correlation_id, step, attribution, bytes
) VALUES (11, 0, 'trace', 5, 60, 22200000, 22210000, 0, 10, 2, 'none', 64);
SELECT * FROM memset;
SELECT
  kind,
  class,
  name
FROM kernel_call
WHERE sequence = 5;
SELECT
  lane,
  label,
  class,
  detail
FROM timeline_bar
WHERE start_ns = 22200000;
