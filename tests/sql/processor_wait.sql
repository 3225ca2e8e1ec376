-- SPDX-License-Identifier: Apache-2.0
-- Two blocks of rank 0 of run 1; run 2 has no waits; other passes do not count.
INSERT INTO scheduling (
  run_id, rank, pass, step, steps, start_ns, wall_ns, cpu_ns, involuntary_switches, threads, wait_ns, longest_wait_ns,
  pressure_ns, load_average
) VALUES
(1, 0, 'time', 4, 5, 0, 60e6, 50e6, 2, 3, 9e6, 4e6, 20e6, 1.5),
(1, 0, 'time', 9, 5, 60e6, 40e6, 50e6, 1, 3, 1e6, 1e6, 30e6, 2),
(1, 1, 'time', 9, 10, 0, 100e6, 50e6, 0, 3, 0, 0, 0, 1), (1, 0, 'trace', 9, 10, 0, 100e6, 50e6, 0, 3, 0, 0, 0, 1),
(2, 0, 'time', 9, 10, 0, 100e6, 0, 0, NULL, NULL, NULL, NULL, NULL);
SELECT * FROM processor_wait ORDER BY run_id, rank;
