-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- In run 27, rank 1 has the larger optimizer state and peak, and its calls were traced. Run 26 is unsharded. Run 21 has
-- no scheme.
UPDATE metric SET value = 4100 WHERE run_id = 27 AND rank = 1 AND name = 'optimizer_state_bytes';
UPDATE rank SET allocated_peak_bytes = 12000 + 1000 * rank WHERE run_id = 27 AND pass = 'time';
INSERT INTO collective (
  run_id, rank, pass, sequence, communicator_id, call_number, operation, bytes, on_device, enqueue_ns, returned_ns,
  start_ns, end_ns, kernels, step, attribution
)
SELECT
  27,
  c.rank,
  'trace',
  c.call_number,
  k.communicator_id,
  c.call_number,
  c.operation,
  c.bytes,
  1,
  0,
  1,
  2,
  8,
  1,
  1,
  'none'
FROM
  (SELECT communicator_id FROM collective WHERE run_id = 21 LIMIT 1) k,
  (
    SELECT
      0 AS rank,
      0 AS call_number,
      'reduce_scatter' AS operation,
      1000 AS bytes
    UNION ALL
    SELECT
      1,
      0,
      'reduce_scatter',
      1000
    UNION ALL
    SELECT
      0,
      1,
      'all_gather',
      500
    UNION ALL
    SELECT
      1,
      1,
      'all_gather',
      500
  ) c;
SELECT * FROM sharding_time ORDER BY run_id;
