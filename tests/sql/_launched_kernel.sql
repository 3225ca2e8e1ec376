-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- with: kernel_verdicts
-- Kernels that several operators launched have a row for each.
SELECT * FROM _launched_kernel ORDER BY run_id, rank, phase_id, module, name_id, launch_config, position;
