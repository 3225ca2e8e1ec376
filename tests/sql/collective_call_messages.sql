-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- What one of two ranks sends is compared with what the other one receives. Call 11: both send; 12: both receive; 13:
-- the numbers of a communicator with three ranks do not match.
INSERT INTO collective (
  run_id, rank, pass, sequence, communicator_id, call_number, operation, bytes, group_ranks, on_device, enqueue_ns,
  returned_ns, start_ns, end_ns, kernels, step, phase_id, scope_id, attribution
) VALUES
(44, 0, 'trace', 10, 101, 10, 'send', 100, 2, 0, 1100000, 1110000, 1100000, 1300000, 0, 1, 103, NULL, 'phase'),
(44, 1, 'trace', 10, 101, 10, 'receive', 100, 2, 0, 1150000, 1160000, 1150000, 1310000, 0, 1, 103, NULL, 'phase'),
(44, 0, 'trace', 11, 101, 11, 'send', 100, 2, 0, 1100000, 1110000, 1100000, 1300000, 0, 1, 103, NULL, 'phase'),
(44, 1, 'trace', 11, 101, 11, 'send', 100, 2, 0, 1150000, 1160000, 1150000, 1310000, 0, 1, 103, NULL, 'phase'),
(44, 0, 'trace', 12, 101, 12, 'receive', 100, 2, 0, 1100000, 1110000, 1100000, 1300000, 0, 1, 103, NULL, 'phase'),
(44, 1, 'trace', 12, 101, 12, 'receive', 100, 2, 0, 1150000, 1160000, 1150000, 1310000, 0, 1, 103, NULL, 'phase'),
(44, 0, 'trace', 13, 101, 13, 'send', 100, 3, 0, 1100000, 1110000, 1100000, 1300000, 0, 1, 103, NULL, 'phase'),
(44, 1, 'trace', 13, 101, 13, 'receive', 100, 3, 0, 1150000, 1160000, 1150000, 1310000, 0, 1, 103, NULL, 'phase');
SELECT
  call_number,
  rank,
  operation,
  ranks,
  duration_us,
  late_us,
  wait_us,
  transfer_us,
  call_transfer_us,
  last_rank
FROM collective_call
WHERE call_number >= 10
ORDER BY call_number, rank;
SELECT
  operation,
  ranks,
  calls,
  compared_launches,
  wait_us,
  transfer_us,
  straggler,
  busbw_gb_s
FROM collective_summary
WHERE run_id = 44 AND operation IN ('send', 'receive')
ORDER BY operation;
