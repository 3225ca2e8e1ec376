-- SPDX-License-Identifier: Apache-2.0
-- with: collected
UPDATE allocation SET free_sequence = 7 WHERE run_id = 13 AND sequence = 6;
UPDATE allocation SET free_sequence = 10 WHERE run_id = 13 AND sequence = 5;
-- A second activation, which the first one outlives.
INSERT INTO allocation (
  run_id, rank, pass, sequence, device, address, requested_bytes, allocated_bytes, alloc_ns, free_ns, free_sequence,
  stream, thread, step, category, category_source
) VALUES
(13, 0, 'memory', 7, 'cuda', 32768, 500, 512, 2650, 3450, 9, 0, 0, 1, 'activation', 'lifetime');
SELECT * FROM memory_timeline_by_category ORDER BY run_id, sequence, category;
