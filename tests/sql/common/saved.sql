-- SPDX-License-Identifier: Apache-2.0
-- Gradients of parameters in run 13, for cases with the lines `-- with: collected` and `-- with: saved`.
INSERT INTO allocation (
  run_id, rank, pass, sequence, device, address, requested_bytes, allocated_bytes, alloc_ns, free_ns, stream, thread,
  step, phase_id, scope_id, free_step, free_phase_id, op_id, category, category_source, stack
) VALUES
(13, 0, 'memory', 90, 'cuda', 65536, 64, 512, 2700, NULL, 0, 0, 1, 2, 904, NULL, NULL, 900, 'gradient', 'tag', NULL),
(13, 0, 'memory', 91, 'cuda', 66048, 64, 512, 2800, NULL, 0, 0, 1, 2, 905, NULL, NULL, 900, 'gradient', 'tag', NULL);
