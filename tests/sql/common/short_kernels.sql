-- SPDX-License-Identifier: Apache-2.0
-- Besides `collected`: run 12, on a GPU, launches 600 kernels of 1 µs per step in the feed-forward.
INSERT INTO kernel_total (
  run_id, rank, pass, sequence, kind, phase_id, scope_id, name_id, attribution, steps, calls, bytes, total_ns, min_ns,
  max_ns
) VALUES
(12, 0, 'ops', 90, 'kernel', 1, 25, 12, 'launch', 2, 1200, 0, 1200000, 1000, 1000);
