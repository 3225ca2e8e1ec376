-- SPDX-License-Identifier: Apache-2.0
-- Step 0 is warm-up. Step 1 takes 1.2 s: 0.5 s of products, then 0.7 s of copies. Step 2 takes 0.9 s: too short. One
-- interval begins before the first phase of step 1, one lies in both of its phases, and one has no DRAM utilization.
-- Rank 1 has a GPU without GPM.
INSERT INTO step_activity (
  run_id, rank, pass, step, phase, warmup, start_ns, end_ns, kernels, kernel_ns, compute_ns, comm_ns, overlap_ns,
  exposed_comm_ns, copy_ns, exposed_copy_ns, idle_ns, gaps, longest_gap_ns
) VALUES
(1, 0, 'trace', 0, 'step', 1, 0, 1000000000, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0),
(1, 0, 'trace', 1, 'step', 0, 1000000000, 2200000000, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0),
(1, 0, 'trace', 1, 'product', 0, 1000000000, 1500000000, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0),
(1, 0, 'trace', 1, 'copy', 0, 1500000000, 2200000000, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0),
(1, 0, 'trace', 2, 'step', 0, 2200000000, 3100000000, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO gpu_utilization (
  run_id, rank, pass, start_ns, end_ns, sm_utilization, sm_occupancy, tensor_utilization, dram_utilization, kernel_time,
  pcie_sent_bytes_per_s, pcie_received_bytes_per_s, nvlink_sent_bytes_per_s, nvlink_received_bytes_per_s
) VALUES
(1, 0, 'trace', 900000000, 1050000000, 0.5, 0.2, 0.5, 0.1, 0.5, 1e6, 2e6, 0, 0),
(1, 0, 'trace', 1050000000, 1150000000, 1, 0.25, 0.9, 0.2, 1, 1e6, 2e6, 0, 0),
(1, 0, 'trace', 1150000000, 1450000000, 1, 0.25, 0.94, NULL, 1, 1e6, 2e6, 1e9, 3e9),
(1, 0, 'trace', 1450000000, 1550000000, 1, 0.5, 0.45, 0.5, 1, 1e6, 2e6, 0, 0),
(1, 0, 'trace', 1550000000, 1650000000, 0.98, 0.8, 0, 0.9, 1, 1e6, 2e6, 0, 0),
(1, 0, 'trace', 2200000000, 2300000000, 0.1, 0.1, 0, 0.1, 0.1, 0, 0, 0, 0);
INSERT INTO gpu_utilization (run_id, rank, pass, start_ns, end_ns, kernel_time) VALUES
(1, 1, 'trace', 1050000000, 1150000000, 0.75);
SELECT * FROM gpu_utilization_summary ORDER BY run_id, rank, pass, phase;
