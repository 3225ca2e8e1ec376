-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- Run 44 gathers the weights of one layer in forward, in two steps and on two ranks, one of them late in the second
-- step, and those of another layer in backward; all-reduces do not count.
INSERT INTO string (string_id, text) VALUES (902, 'block_0'), (903, 'block_1');
INSERT INTO collective (
  run_id, rank, pass, sequence, communicator_id, call_number, operation, bytes, on_device, enqueue_ns, returned_ns,
  start_ns, end_ns, kernels, step, attribution, needed_ns, needed_by_id, needed_phase_id
) VALUES
(44, 0, 'trace', 10, 101, 10, 'all_gather', 4000, 0, 1000, 5000, 1000, 5000, 0, 1, 'none', 6000, 902, 102),
(44, 1, 'trace', 10, 101, 10, 'all_gather', 4000, 0, 1000, 5000, 1000, 5000, 0, 1, 'none', 7000, 902, 102),
(44, 0, 'trace', 11, 101, 11, 'all_gather', 4000, 0, 11000, 18000, 11000, 18000, 0, 2, 'none', 14000, 902, 102),
(44, 1, 'trace', 11, 101, 11, 'all_gather', 4000, 0, 11000, 18000, 11000, 18000, 0, 2, 'none', 18500, 902, 102),
(44, 0, 'trace', 12, 101, 12, 'all_gather', 8000, 0, 21000, 25000, 21000, 25000, 0, 2, 'none', 25000, 903, 103),
(44, 0, 'trace', 13, 101, 13, 'all_reduce', 8000, 0, 21000, 25000, 21000, 25000, 0, 2, 'none', 22000, 903, 103);
SELECT * FROM gather_lateness ORDER BY run_id, layer_order;
